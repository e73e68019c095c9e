import { z } from 'zod';
import { byAccount } from '../../audit/audit-log.ts';
import { PlatenError } from '../../errors/registry.ts';
import { noTemplate } from '../../templates/template-editor.ts';
import { type SavedTemplate, TEMPLATE_BOUNDS } from '../../templates/template-store.ts';
import type { ApiParts } from '../api-parts.ts';
import type { AccountCaller } from '../authenticate-bearer.ts';
import { defineRoute } from '../route.ts';
import { paging } from '../schemas/paging.ts';
import { successSchema } from '../schemas/success.ts';
import {
  previewRequestSchema,
  previewSchema,
  templateChangeSchema,
  templateListSchema,
  templateRequestSchema,
  templateSchema,
} from '../schemas/template.ts';

const tags = ['Templates'];
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const create = defineRoute({
  method: 'post',
  path: '/user/templates',
  summary: 'Save a new template',
  description: `An account may have ${TEMPLATE_BOUNDS.templates} templates.`,
  tags,
  auth: 'bearer',
  body: templateRequestSchema,
  takesTurn: true,
  largeAnswer: true,
  responses: {
    201: {
      description: 'The template in its first version.',
      schema: templateSchema,
      leadsTo: {
        operations: [
          'GET /user/templates/:id',
          'PATCH /user/templates/:id',
          'DELETE /user/templates/:id',
          'GET /user/templates/:id/versions',
          'GET /user/templates/:id/versions/:versionId',
          'POST /user/templates/:id/versions/:versionId/rollback',
        ],
        names: { id: { field: 'id' }, versionId: { field: 'versionId' } },
      },
    },
  },
  errors: ['TEMPLATE_ERROR', 'TEMPLATE_CAPACITY', 'STORAGE_FULL', 'TOO_MANY_WAITING'],
}).handledBy(async ({ body, caller, clientAddress }, parts: ApiParts) => {
  const saved = await parts.templateEditor.create(caller, body, byAccount(clientAddress));
  return { status: 201, json: templateBody(saved) };
});

const list = defineRoute({
  method: 'get',
  path: '/user/templates',
  summary: 'List the templates of the account',
  description:
    'Newest first. A page of very large templates ends before its limit: the next one begins at `offset` plus the number that came.',
  tags,
  auth: 'bearer',
  takesTurn: true,
  largeAnswer: true,
  query: z.strictObject(paging),
  responses: { 200: { description: 'One page of templates.', schema: templateListSchema } },
}).handledBy(async ({ query, caller }, parts: ApiParts) => {
  const { total, saved } = await parts.templates.list(caller.accountId, query);
  return { status: 200, json: { total, ...query, templates: saved.map(templateBody) } };
});

const get = defineRoute({
  method: 'get',
  path: '/user/templates/:id',
  summary: 'Get a template',
  tags,
  auth: 'bearer',
  takesTurn: true,
  largeAnswer: true,
  params,
  responses: { 200: { description: 'The template as it is now.', schema: templateSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller }, parts: ApiParts) => {
  const saved = await parts.templates.current(caller.accountId, params.id);
  if (saved === undefined) throw noTemplate(params.id);
  return { status: 200, json: templateBody(saved) };
});

const change = defineRoute({
  method: 'patch',
  path: '/user/templates/:id',
  summary: 'Change a template',
  description: `Saves a new version; fields that are left out stay as they are. The latest ${TEMPLATE_BOUNDS.versions} versions of a template are kept, of plans without version history the latest one alone: an older one can no longer be pinned or rolled back to.`,
  tags,
  auth: 'bearer',
  params,
  body: templateChangeSchema,
  takesTurn: true,
  largeAnswer: true,
  responses: { 200: { description: 'The template in its new version.', schema: templateSchema } },
  errors: ['NOT_FOUND', 'TEMPLATE_ERROR', 'STORAGE_FULL', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, body, caller, clientAddress }, parts: ApiParts) => {
  const by = byAccount(clientAddress);
  const saved = await parts.templateEditor.change(caller, params.id, body, by);
  return { status: 200, json: templateBody(saved) };
});

const remove = defineRoute({
  method: 'delete',
  path: '/user/templates/:id',
  summary: 'Delete a template and its versions',
  description: 'Jobs that were accepted before are rendered all the same.',
  tags,
  auth: 'bearer',
  params,
  responses: { 200: { description: 'It is deleted.', schema: successSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller, clientAddress }, parts: ApiParts) => {
  await parts.templateEditor.delete(caller.accountId, params.id, byAccount(clientAddress));
  return { status: 200, json: { success: true } };
});

const preview = defineRoute({
  method: 'post',
  path: '/user/templates/preview',
  summary: 'Show the HTML that a template and data come to',
  tags,
  auth: 'bearer',
  body: previewRequestSchema,
  takesTurn: true,
  largeAnswer: true,
  responses: { 200: { description: 'The HTML.', schema: previewSchema } },
  errors: ['NOT_FOUND', 'TEMPLATE_ERROR', 'TOO_MANY_WAITING'],
}).handledBy(async ({ body, caller }, parts: ApiParts) => {
  const { content, sampleData } = await previewed(body, caller, parts);
  const html = await parts.templateEditor.preview(
    caller.accountId,
    content,
    objectText(sampleData),
    caller.plan.maxInputSizeBytes,
  );
  return { status: 200, json: { html } };
});

export const templateRoutes = [create, list, preview, get, change, remove];

export function templateBody({ template, version }: SavedTemplate) {
  return {
    id: template._id,
    name: version.name,
    content: version.content,
    sampleData: version.sampleData,
    versionId: version._id,
    version: version.version,
    createdAt: template.createdAt.toISOString(),
    updatedAt: version.createdAt.toISOString(),
  };
}

async function previewed(
  { content, templateId, sampleData }: z.output<typeof previewRequestSchema>,
  caller: AccountCaller,
  parts: ApiParts,
): Promise<{ content: string; sampleData: string }> {
  if (content !== undefined) return { content, sampleData: sampleData ?? '{}' };
  const saved = await parts.templates.resolve(caller.accountId, templateId ?? '');
  if (saved === undefined) throw noTemplate(templateId ?? '');
  return { content: saved.content, sampleData: sampleData ?? saved.sampleData };
}

/**
 * The same JSON document, which is not parsed here: that is for the template's process.
 *
 * @throws PlatenError VALIDATION for a document without names, which could fill no variable.
 */
function objectText(sampleData: string): string {
  if (sampleData.trimStart().startsWith('{')) return sampleData;
  const fault = 'sampleData: must be a JSON object to fill variables';
  throw new PlatenError('VALIDATION', fault, { details: [fault] });
}
