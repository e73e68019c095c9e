import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { addressesOf } from '../../tenants/accounts/addresses.ts';
import type { StoredDraft } from '../../tenants/templates/template-draft-store.ts';
import { noTemplate } from '../../tenants/templates/template-editor.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { errorsOf, wordError } from '../request/field-errors.ts';
import { routesOf } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';
import {
  draftRequestSchema,
  publishRequestSchema,
  templateDraftSchema,
  templateRequestSchema,
  templateSchema,
} from './template-schema.ts';
import { templateBody, withText } from './templates.ts';

const defineRoute = routesOf({ tags: ['Templates'], auth: 'bearer' });
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const get = defineRoute('GET /user/templates/:id/draft', {
  right: 'read',
  operationId: 'getTemplateDraft',
  summary: 'Get the draft of a template',
  needsPermit: true,
  largeResponse: true,
  params,
  responses: { 200: { description: 'The draft, if there is one.', schema: templateDraftSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller }, deps: ApiDeps) => {
  const { accountId } = caller;
  const draft = await deps.templates.drafts.find(accountId, params.id);
  if (draft === undefined && (await deps.templates.current(accountId, params.id)) === undefined)
    throw noTemplate(params.id);
  return { status: 200, json: { draft: draft === undefined ? null : await draftBody(draft, deps) } };
});

const put = defineRoute('PUT /user/templates/:id/draft', {
  right: 'develop',
  operationId: 'saveTemplateDraft',
  summary: 'Save the draft of a template',
  description:
    'A template has one draft at most, beside its versions. Renders never use it: it becomes a version once it is published.',
  params,
  body: draftRequestSchema,
  needsPermit: true,
  largeResponse: true,
  responses: { 200: { description: 'The draft as it is saved.', schema: templateDraftSchema } },
  errors: ['NOT_FOUND', 'TEMPLATE_CHANGED', 'STORAGE_FULL'],
}).handledBy(async ({ params, body, caller, clientAddress }, deps: ApiDeps) => {
  const { baseDraftId, ...content } = body;
  const by = byPerson(caller, clientAddress);
  const draft = await deps.templateEditor.saveDraft(caller, params.id, content, by, baseDraftId);
  return { status: 200, json: { draft: await draftBody(draft, deps) } };
});

const discard = defineRoute('DELETE /user/templates/:id/draft', {
  right: 'develop',
  operationId: 'discardTemplateDraft',
  withoutRoom: 'confirmed',
  summary: 'Discard the draft of a template',
  description: 'The versions of the template stay as they are.',
  params,
  responses: { 200: { description: 'There is no draft any more.', schema: successSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller }, deps: ApiDeps) => {
  const { accountId } = caller;
  const had = await deps.templateEditor.discardDraft(accountId, params.id);
  if (!had && (await deps.templates.current(accountId, params.id)) === undefined) throw noTemplate(params.id);
  return { status: 200, json: { success: true } };
});

const publish = defineRoute('POST /user/templates/:id/draft/publish', {
  right: 'develop',
  operationId: 'publishTemplateDraft',
  summary: 'Publish the draft of a template as its new version',
  description:
    'It is rejected when the template was saved since the version that the draft was made from: save the draft again with the present version as `baseVersionId`.',
  params,
  body: publishRequestSchema,
  needsPermit: true,
  largeResponse: true,
  responses: { 200: { description: 'The template in its new version.', schema: templateSchema } },
  errors: ['NOT_FOUND', 'TEMPLATE_CHANGED', 'TEMPLATE_ERROR', 'STORAGE_FULL', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, body, caller, clientAddress }, deps: ApiDeps) => {
  const by = byPerson(caller, clientAddress);
  const saved = await deps.templateEditor.publish(caller, params.id, { ...body, valid }, by);
  return { status: 200, json: templateBody(saved) };
});

export const templateDraftRoutes = [get, put, discard, publish];

/** A draft as the version that it would become. @throws PlatenError VALIDATION. */
function valid({ name, content, sampleData, dataSchema, options }: StoredDraft) {
  const template = { name, content, sampleData, dataSchema, options };
  const { data, error } = templateRequestSchema.safeParse(template, { error: wordError });
  if (data !== undefined) return { dataSchema: null, options: null, ...withText(data) };
  const details = errorsOf(error, 'draft');
  throw new PlatenError('VALIDATION', details[0], { details });
}

async function draftBody(draft: StoredDraft, { accounts }: Pick<ApiDeps, 'accounts'>) {
  const { draftId, name, content, sampleData, dataSchema, options, baseVersionId, authorId } = draft;
  const authors = await addressesOf(accounts, [authorId]);
  return {
    ...{ draftId, name, content, sampleData, dataSchema, options, baseVersionId },
    author: authors.get(authorId) ?? null,
    updatedAt: draft.updatedAt.toISOString(),
  };
}
