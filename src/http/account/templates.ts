import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { noTemplate } from '../../tenants/templates/template-editor.ts';
import {
  type SavedTemplate,
  TEMPLATE_BOUNDS,
  type Template,
  type TemplateDraft,
  type TemplateVersion,
} from '../../tenants/templates/template-store.ts';
import type { ApiDeps } from '../api-deps.ts';
import { type AccountCaller, byPerson, withoutKey } from '../request/authenticate-bearer.ts';
import { routesOf } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';
import { effectiveOptions } from '../work/effective-options.ts';
import {
  acceptedRender,
  assertAdmissible,
  renderSubmissionOf,
  WORK_REJECTIONS,
} from '../work/render-submission.ts';
import { acceptedRenderSchema } from '../work/user-render-schema.ts';
import {
  previewRequestSchema,
  previewSchema,
  schemaText,
  templateChangeSchema,
  templateListSchema,
  templateQuerySchema,
  templateRequestSchema,
  templateSchema,
  templateSummaryListSchema,
} from './template-schema.ts';

const defineRoute = routesOf({ tags: ['Templates'], auth: 'bearer' });
const params = z.strictObject({ id: z.uuid().toLowerCase() });
/** Interactive, because the user waits for the preview. */
const PREVIEWED_AS = { output: 'binary', executionMode: 'sync' } as const;

const create = defineRoute('POST /user/templates', {
  right: 'develop',
  operationId: 'createTemplate',
  summary: 'Save a new template',
  description: `An account may have ${TEMPLATE_BOUNDS.templates} templates.`,
  body: templateRequestSchema,
  needsPermit: true,
  largeResponse: true,
  responses: {
    201: {
      description: 'The template in its first version.',
      schema: templateSchema,
      links: {
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
}).handledBy(async ({ body, caller, clientAddress }, deps: ApiDeps) => {
  const saved = await deps.templateEditor.create(caller, withText(body), byPerson(caller, clientAddress));
  return { status: 201, json: templateBody(saved) };
});

const list = defineRoute('GET /user/templates', {
  right: 'read',
  operationId: 'listTemplates',
  summary: 'List the templates of the account',
  description:
    'Newest first. A page of very large templates may have fewer rows than its limit: the next page begins at `offset` plus the number of rows received.',
  needsPermit: true,
  largeResponse: true,
  query: templateQuerySchema,
  responses: {
    200: {
      description: 'One page of templates.',
      schema: z.union([templateListSchema, templateSummaryListSchema]),
    },
  },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { limit, offset, view, search } = query;
  if (view === 'summary') {
    const { total, templates } = await deps.templates.summaries(caller.accountId, { limit, offset, search });
    return { status: 200, json: { total, limit, offset, templates: templates.map(summaryBody) } };
  }
  const { total, saved } = await deps.templates.list(caller.accountId, { limit, offset });
  return { status: 200, json: { total, limit, offset, templates: saved.map(templateBody) } };
});

const get = defineRoute('GET /user/templates/:id', {
  right: 'read',
  operationId: 'getTemplate',
  summary: 'Get a template',
  needsPermit: true,
  largeResponse: true,
  params,
  responses: { 200: { description: 'The template as it is now.', schema: templateSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller }, deps: ApiDeps) => {
  const saved = await deps.templates.current(caller.accountId, params.id);
  if (saved === undefined) throw noTemplate(params.id);
  return { status: 200, json: templateBody(saved) };
});

const change = defineRoute('PATCH /user/templates/:id', {
  right: 'develop',
  operationId: 'updateTemplate',
  summary: 'Change a template',
  description: `Saves a new version. Fields that are left out keep their values. The latest ${TEMPLATE_BOUNDS.versions} versions of a template are kept; plans without version history keep only the latest. Older versions can no longer be pinned or rolled back to.`,
  params,
  body: templateChangeSchema,
  needsPermit: true,
  largeResponse: true,
  responses: { 200: { description: 'The template in its new version.', schema: templateSchema } },
  errors: ['NOT_FOUND', 'TEMPLATE_CHANGED', 'TEMPLATE_ERROR', 'STORAGE_FULL', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, body, caller, clientAddress }, deps: ApiDeps) => {
  const by = byPerson(caller, clientAddress);
  const saved = await deps.templateEditor.change(caller, params.id, withText(body), by);
  return { status: 200, json: templateBody(saved) };
});

const remove = defineRoute('DELETE /user/templates/:id', {
  right: 'develop',
  operationId: 'deleteTemplate',
  withoutRoom: 'confirmed',
  summary: 'Delete a template and its versions',
  description: 'Jobs that were accepted before are still rendered.',
  params,
  responses: { 200: { description: 'It is deleted.', schema: successSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller, clientAddress }, deps: ApiDeps) => {
  await deps.templateEditor.delete(caller.accountId, params.id, byPerson(caller, clientAddress));
  return { status: 200, json: { success: true } };
});

const preview = defineRoute('POST /user/templates/preview', {
  right: 'develop',
  operationId: 'previewTemplate',
  withoutRoom: 'unconfirmed',
  summary: 'Preview a template with data: its HTML, or with `output` = `pdf` a test render',
  body: previewRequestSchema,
  needsPermit: true,
  largeResponse: true,
  responses: {
    200: { description: 'The HTML.', schema: previewSchema },
    202: { description: 'The test render of the HTML; follow the job.', schema: acceptedRenderSchema },
  },
  errors: [
    'NOT_FOUND',
    'TEMPLATE_ERROR',
    'TOO_MANY_WAITING',
    'PLAN_LIMIT',
    'EINVOICE_INVALID',
    ...WORK_REJECTIONS,
  ],
}).handledBy(async ({ body, caller, aboutJob }, deps: ApiDeps) => {
  const { sampleData, options: saved, ...template } = await previewed(body, caller, deps);
  const { html, options } = await deps.templateEditor.preview(
    caller.accountId,
    { ...template, options: effectiveOptions(body.options, saved ?? undefined) },
    objectText(sampleData),
    caller.plan.maxInputSizeBytes,
  );
  if (body.output === 'html') return { status: 200, json: { html } };
  const asTest = withoutKey(caller, 'test');
  assertAdmissible(caller.plan, deps);
  const data = options.einvoice && JSON.parse(objectText(sampleData));
  const request = { html, options, ...PREVIEWED_AS };
  const submission = await renderSubmissionOf(request, asTest, deps, data);
  const { jobId, stopWaiting } = await deps.renders.submit(asTest, submission);
  stopWaiting();
  aboutJob(jobId);
  return acceptedRender(jobId, null);
});

export const templateRoutes = [create, list, preview, get, change, remove];

function summaryBody({ _id, name, currentVersionId, version, size, createdAt, updatedAt }: Template) {
  return {
    id: _id,
    name,
    versionId: currentVersionId,
    version,
    size,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

export function templateBody({ template, version }: SavedTemplate) {
  return {
    id: template._id,
    name: version.name,
    content: version.content,
    ...optionalBody(version),
    sampleData: version.sampleData,
    versionId: version._id,
    version: version.version,
    createdAt: template.createdAt.toISOString(),
    updatedAt: version.createdAt.toISOString(),
  };
}

/** The fields of a template's schema and options: none for a template without them. */
export function optionalBody({ dataSchema, options }: Pick<TemplateVersion, 'dataSchema' | 'options'>) {
  return { ...(typeof dataSchema === 'string' && { dataSchema }), ...(options != null && { options }) };
}

export function withText<Body extends { readonly dataSchema?: string | object | null | undefined }>(
  body: Body,
) {
  const { dataSchema, ...rest } = body;
  return { ...rest, ...(dataSchema !== undefined && { dataSchema: schemaText(dataSchema) }) };
}

async function previewed(
  { content, templateId, sampleData, ...given }: z.output<typeof previewRequestSchema>,
  caller: AccountCaller,
  deps: ApiDeps,
): Promise<Omit<TemplateDraft, 'name'>> {
  const dataSchema = given.dataSchema === undefined ? null : schemaText(given.dataSchema);
  if (content !== undefined) return { content, dataSchema, sampleData: sampleData ?? '{}' };
  const saved = await deps.templates.resolve(caller.accountId, templateId ?? '');
  if (saved === undefined) throw noTemplate(templateId ?? '');
  return {
    content: saved.content,
    dataSchema: given.dataSchema === undefined ? (saved.dataSchema ?? null) : dataSchema,
    sampleData: sampleData ?? saved.sampleData,
    options: saved.options ?? null,
  };
}

/**
 * Checks that a JSON document is an object. It is not parsed here, but in the sandbox process of the template.
 *
 * @returns the same document.
 * @throws PlatenError VALIDATION for a document that is not an object, and so could fill no variable.
 */
function objectText(sampleData: string): string {
  if (sampleData.trimStart().startsWith('{')) return sampleData;
  const error = 'sampleData: must be a JSON object to fill variables';
  throw new PlatenError('VALIDATION', error, { details: [error] });
}
