import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { byAccount } from '../../tenants/audit/audit-log.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import { noTemplate } from '../../tenants/templates/template-editor.ts';
import type { VersionSummary } from '../../tenants/templates/template-store.ts';
import type { ApiDeps } from '../api-deps.ts';
import { paging } from '../request/paging-schema.ts';
import { defineRoute } from '../request/route.ts';
import { templateSchema, templateVersionListSchema, templateVersionSchema } from './template-schema.ts';
import { optionalBody, templateBody } from './templates.ts';

const tags = ['Templates'];
const id = z.uuid().toLowerCase();
const ofTemplate = z.strictObject({ id });
const ofVersion = z.strictObject({ id, versionId: id });

const list = defineRoute({
  method: 'get',
  path: '/user/templates/:id/versions',
  operationId: 'listTemplateVersions',
  summary: 'List the versions of a template',
  description: 'Newest first. For plans with version history.',
  tags,
  auth: 'bearer',
  params: ofTemplate,
  query: z.strictObject(paging),
  responses: {
    200: { description: 'One page of versions, without their content.', schema: templateVersionListSchema },
  },
  errors: ['PLAN_LIMIT', 'NOT_FOUND'],
}).handledBy(async ({ params, query, caller }, deps: ApiDeps) => {
  requireVersions(caller.plan);
  const found = await deps.templates.listVersions(caller.accountId, params.id, query);
  if (found === undefined) throw noTemplate(params.id);
  const { total, template, versions } = found;
  const rows = versions.map((version) => versionBody(version, template.currentVersionId));
  return { status: 200, json: { total, ...query, versions: rows } };
});

const get = defineRoute({
  method: 'get',
  path: '/user/templates/:id/versions/:versionId',
  operationId: 'getTemplateVersion',
  summary: 'Get one version of a template',
  description: 'For plans with version history.',
  tags,
  auth: 'bearer',
  needsPermit: true,
  largeResponse: true,
  params: ofVersion,
  responses: { 200: { description: 'The version.', schema: templateVersionSchema } },
  errors: ['PLAN_LIMIT', 'NOT_FOUND'],
}).handledBy(async ({ params, caller }, deps: ApiDeps) => {
  requireVersions(caller.plan);
  const { templates } = deps;
  const [version, current] = await Promise.all([
    templates.resolve(caller.accountId, params.id, params.versionId),
    templates.resolve(caller.accountId, params.id),
  ]);
  if (version === undefined) throw noTemplate(params.id, params.versionId);
  const { content, sampleData } = version;
  return {
    status: 200,
    json: { ...versionBody(version, current?._id), ...optionalBody(version), content, sampleData },
  };
});

const rollBack = defineRoute({
  method: 'post',
  path: '/user/templates/:id/versions/:versionId/rollback',
  operationId: 'rollBackTemplate',
  summary: 'Roll back to an earlier version',
  description:
    'The template gets a new version with the content of the earlier one. For plans with version history.',
  tags,
  auth: 'bearer',
  largeResponse: true,
  params: ofVersion,
  responses: { 200: { description: 'The template in its new version.', schema: templateSchema } },
  errors: ['PLAN_LIMIT', 'NOT_FOUND', 'TEMPLATE_ERROR', 'STORAGE_FULL', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, caller, clientAddress }, deps: ApiDeps) => {
  requireVersions(caller.plan);
  const by = byAccount(clientAddress);
  const saved = await deps.templateEditor.rollBack(caller, params.id, params.versionId, by);
  return { status: 200, json: templateBody(saved) };
});

export const templateVersionRoutes = [list, get, rollBack];

function requireVersions({ features }: Plan): void {
  if (features.templateVersions) return;
  throw new PlatenError('PLAN_LIMIT', 'The plan has no version history of templates.');
}

function versionBody(
  { _id, templateId, version, name, createdAt }: VersionSummary,
  currentId: string | undefined,
) {
  return {
    id: _id,
    versionId: _id,
    templateId,
    version,
    name,
    current: _id === currentId,
    createdAt: createdAt.toISOString(),
  };
}
