import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { addressesOf } from '../../tenants/accounts/addresses.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import { noTemplate } from '../../tenants/templates/template-editor.ts';
import type { VersionSummary } from '../../tenants/templates/template-store.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { paging } from '../request/paging-schema.ts';
import { routesOf } from '../request/route.ts';
import { templateSchema, templateVersionListSchema, templateVersionSchema } from './template-schema.ts';
import { optionalBody, templateBody } from './templates.ts';

const defineRoute = routesOf({ tags: ['Templates'], auth: 'bearer' });
const id = z.uuid().toLowerCase();
const ofTemplate = z.strictObject({ id });
const ofVersion = z.strictObject({ id, versionId: id });

const list = defineRoute('GET /user/templates/:id/versions', {
  right: 'read',
  operationId: 'listTemplateVersions',
  summary: 'List the versions of a template',
  description: 'Newest first. For plans with version history.',
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
  const authors = await addressesOf(
    deps.accounts,
    versions.map(({ authorId }) => authorId),
  );
  const rows = versions.map((version) => versionBody(version, template.currentVersionId, authors));
  return { status: 200, json: { total, ...query, versions: rows } };
});

const get = defineRoute('GET /user/templates/:id/versions/:versionId', {
  right: 'read',
  operationId: 'getTemplateVersion',
  summary: 'Get one version of a template',
  description: 'For plans with version history.',
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
  const authors = await addressesOf(deps.accounts, [version.authorId]);
  return {
    status: 200,
    json: { ...versionBody(version, current?._id, authors), ...optionalBody(version), content, sampleData },
  };
});

const rollBack = defineRoute('POST /user/templates/:id/versions/:versionId/rollback', {
  right: 'develop',
  operationId: 'rollBackTemplate',
  summary: 'Roll back to an earlier version',
  description:
    'The template gets a new version with the content of the earlier one. For plans with version history.',
  largeResponse: true,
  params: ofVersion,
  responses: { 200: { description: 'The template in its new version.', schema: templateSchema } },
  errors: ['PLAN_LIMIT', 'NOT_FOUND', 'TEMPLATE_ERROR', 'STORAGE_FULL', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, caller, clientAddress }, deps: ApiDeps) => {
  requireVersions(caller.plan);
  const by = byPerson(caller, clientAddress);
  const saved = await deps.templateEditor.rollBack(caller, params.id, params.versionId, by);
  return { status: 200, json: templateBody(saved) };
});

export const templateVersionRoutes = [list, get, rollBack];

function requireVersions({ features }: Plan): void {
  if (features.templateVersions) return;
  throw new PlatenError('PLAN_LIMIT', 'The plan has no version history of templates.');
}

function versionBody(
  { _id, templateId, version, name, createdAt, authorId, message }: VersionSummary,
  currentId: string | undefined,
  authors: ReadonlyMap<string | null | undefined, string>,
) {
  return {
    id: _id,
    versionId: _id,
    templateId,
    version,
    name,
    current: _id === currentId,
    author: authors.get(authorId) ?? null,
    message: message ?? null,
    createdAt: createdAt.toISOString(),
  };
}
