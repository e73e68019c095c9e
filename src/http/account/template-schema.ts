import { z } from 'zod';
import { renderOptionsSchema } from '../../render/options/all/render-options.ts';
import { savedOptionsSchema } from '../../render/options/all/saved-options.ts';
import { shortRecord } from '../../render/options/core/short-list.ts';
import { displayNameSchema, documentSchema, linesSchema } from '../../render/options/core/text-schemas.ts';
import { MAX_DATA_DEPTH } from '../../work/inputs/template.ts';
import { findJsonError } from '../request/json-error.ts';
import { type JsonBounds, jsonLimitExceeded } from '../request/json-size.ts';
import { page, paging } from '../request/paging-schema.ts';
import { renderRequestSchema } from '../work/render-request-schema.ts';

const MAX_NAME = 200;
/** Characters of what an author says of a version. */
const MAX_MESSAGE = 500;
/** Far fewer names and values than in a body: sample data are a text, which is parsed in addition to the body. */
const MAX_SAMPLE: JsonBounds = { elements: 50_000, names: 25_000, depth: MAX_DATA_DEPTH };
/** Characters of a schema of data. */
const MAX_SCHEMA_CHARS = 64 * 1024;
/** Keywords of a schema itself, of which draft 2020-12 has about sixty. */
const MAX_KEYWORDS = 100;
const MAX_SCHEMA: JsonBounds = { elements: 20_000, names: 5000, depth: MAX_DATA_DEPTH };

const time = z.iso.datetime();
const name = displayNameSchema(MAX_NAME);
const message = linesSchema(MAX_MESSAGE)
  .optional()
  .describe('What this version changes, for whoever reads the history of the template.');
const content = documentSchema({ min: 1 }).describe(
  'HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters.',
);
const sampleData = documentSchema()
  .check((context) => {
    const problem = jsonErrorOf(context.value);
    if (problem === undefined) return;
    context.issues.push({ code: 'custom', input: context.value, message: problem });
  })
  .describe('A JSON document serialized as a string.');

const dataSchema = z
  .union([
    z.string(),
    shortRecord(z.record(z.string(), z.unknown()), MAX_KEYWORDS, 'must have at most 100 keywords'),
  ])
  .check((context) => {
    const problem = schemaErrorOf(context.value);
    if (problem === undefined) return;
    context.issues.push({ code: 'custom', input: context.value, message: problem });
  })
  .nullable()
  .optional()
  .describe(
    'A JSON Schema of draft 2020-12 that the data of each render must fit, as an object or serialized as a string; null for none.',
  );

const options = savedOptionsSchema
  .optional()
  .describe(
    'Options for each render of the template. Options of the render itself have precedence. `assetHeaders` and `cookies` cannot be saved. null for none.',
  );

/** When to run a check in spite of an invalid field, so that all errors are reported together. */
function isObject({ value }: { readonly value: unknown }): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function jsonErrorOf(text: string): string | undefined {
  const limitExceeded = jsonLimitExceeded(Buffer.from(text), MAX_SAMPLE);
  if (limitExceeded !== undefined) return `must not have ${limitExceeded}`;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return `must be a JSON document: ${findJsonError(text)}`;
  }
}

function schemaErrorOf(schema: string | object): string | undefined {
  const text = schemaText(schema);
  if (text.length > MAX_SCHEMA_CHARS) return `must be at most ${MAX_SCHEMA_CHARS} characters long`;
  const limitExceeded = jsonLimitExceeded(Buffer.from(text), MAX_SCHEMA);
  if (limitExceeded !== undefined) return `must not have ${limitExceeded}`;
  return jsonErrorOf(text);
}

/** A schema as it is stored. */
export function schemaText<Given extends string | object | null>(
  schema: Given,
): string | Extract<Given, null>;
export function schemaText(schema: string | object | null): string | null {
  return typeof schema === 'string' || schema === null ? schema : JSON.stringify(schema);
}

export const templateSchema = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    content: z.string(),
    sampleData: z.string(),
    dataSchema: z
      .string()
      .optional()
      .describe('The JSON Schema of its data serialized as a string; absent without one.'),
    options: renderOptionsSchema.optional().describe('Options of its renders; absent without any.'),
    versionId: z.uuid().describe('The version that renders use unless they pin another.'),
    version: z.int().min(1),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Template' });

export const templateListSchema = z
  .strictObject({ ...page, templates: z.array(templateSchema) })
  .meta({ id: 'TemplateList' });

/** A template in a list with `view=summary`. */
const templateSummarySchema = templateSchema
  .omit({ content: true, sampleData: true, dataSchema: true, options: true })
  .extend({ size: z.int().min(0).describe('Bytes of its content, sample data, schema and options.') })
  .meta({ id: 'TemplateSummary' });

export const templateSummaryListSchema = z
  .strictObject({ ...page, templates: z.array(templateSummarySchema) })
  .meta({ id: 'TemplateSummaryList' });

/** The query of `GET /user/templates`. */
export const templateQuerySchema = z
  .strictObject({
    ...paging,
    view: z
      .enum(['full', 'summary'])
      .default('full')
      .describe('`summary` leaves out content, sample data, schema and options.'),
    search: displayNameSchema(MAX_NAME)
      .optional()
      .describe('Part of the name, in upper or lower case. Only with `view` = `summary`.'),
  })
  .refine(({ view, search }) => search === undefined || view === 'summary', {
    error: 'may only be given together with view summary',
    path: ['search'],
  });

const versionFields = {
  id: z.uuid(),
  versionId: z.uuid().describe('The same as `id`, by the name it has elsewhere.'),
  templateId: z.uuid(),
  version: z.int().min(1),
  name: z.string(),
  current: z.boolean().describe('Whether renders use it unless they pin another.'),
  author: z.string().nullable().describe('The address of the person who saved it; null if it is not known.'),
  message: z.string().nullable().describe('What its author says of it; null for nothing.'),
  createdAt: time,
};
const versionRowSchema = z.strictObject(versionFields).meta({ id: 'TemplateVersionSummary' });

export const templateVersionSchema = z
  .strictObject({
    ...versionFields,
    content: z.string(),
    sampleData: z.string(),
    dataSchema: templateSchema.shape.dataSchema,
    options: templateSchema.shape.options,
  })
  .meta({ id: 'TemplateVersion' });

export const templateVersionListSchema = z
  .strictObject({ ...page, versions: z.array(versionRowSchema) })
  .meta({ id: 'TemplateVersionList' });

/** The body of `POST /user/templates`. */
export const templateRequestSchema = z
  .strictObject({ name, content, sampleData: sampleData.default('{}'), dataSchema, options, message })
  .meta({ id: 'TemplateRequest' });

/** The body of `PATCH /user/templates/:id`. */
export const templateChangeSchema = z
  .strictObject({
    name: name.optional(),
    content: content.optional(),
    sampleData: sampleData.optional(),
    dataSchema,
    options,
    message,
    baseVersionId: z
      .uuid()
      .toLowerCase()
      .optional()
      .describe(
        'The version that the change was made from: it is rejected when the template has been saved since. Without it the change is made to the present version.',
      ),
  })
  .refine(
    ({ baseVersionId: _, message: __, ...change }) =>
      Object.values(change).some((value) => value !== undefined),
    {
      message: 'one of name, content, sampleData, dataSchema, options is required',
      when: isObject,
    },
  )
  .meta({ id: 'TemplateChange', minProperties: 1 });

const draftFields = {
  name,
  content: documentSchema().describe('As in a template. A draft need not be valid before it is published.'),
  sampleData: documentSchema().default('{}').describe('As in a template; it need not be JSON yet.'),
  dataSchema: documentSchema({ max: MAX_SCHEMA_CHARS })
    .nullable()
    .default(null)
    .describe('A JSON Schema serialized as a string; null for none. It need not be valid yet.'),
};

/** The body of `PUT /user/templates/:id/draft`. */
export const draftRequestSchema = z
  .strictObject({
    ...draftFields,
    options: savedOptionsSchema.default(null).describe('Options for each render; null for none.'),
    baseVersionId: z
      .uuid()
      .toLowerCase()
      .optional()
      .describe('The version that the draft was made from. Default: the present version.'),
    baseDraftId: z
      .uuid()
      .toLowerCase()
      .nullable()
      .optional()
      .describe(
        'The draft that this one was made from, null for none: it is rejected when the draft has been changed since. Without it, this one replaces whatever is there.',
      ),
  })
  .meta({ id: 'TemplateDraftRequest' });

const draftSchema = z
  .strictObject({
    draftId: z.uuid().describe('Another one after each change of the draft.'),
    name: z.string(),
    content: z.string(),
    sampleData: z.string(),
    dataSchema: z.string().nullable().describe('The JSON Schema of its data; null for none.'),
    options: renderOptionsSchema.nullable().describe('Options of its renders; null for none.'),
    baseVersionId: z.uuid().describe('The version that it was made from.'),
    author: z.string().nullable().describe('The address of the person who changed it last.'),
    updatedAt: time,
  })
  .meta({ id: 'TemplateDraft' });

export const templateDraftSchema = z
  .strictObject({ draft: draftSchema.nullable().describe('null while the template has none.') })
  .meta({ id: 'TemplateDraftResponse' });

/** The body of `POST /user/templates/:id/draft/publish`. */
export const publishRequestSchema = z
  .strictObject({
    message,
    draftId: z
      .uuid()
      .toLowerCase()
      .optional()
      .describe('The draft that you have seen: it is rejected when it has been changed since.'),
  })
  .meta({ id: 'PublishRequest' });

/** The body of `POST /user/templates/preview`. */
export const previewRequestSchema = z
  .strictObject({
    content: content.optional(),
    templateId: z.uuid().toLowerCase().optional().describe('A saved template instead of `content`.'),
    sampleData: sampleData
      .optional()
      .describe('A JSON document serialized as a string. Default: that of the saved template, or no data.'),
    dataSchema: dataSchema.describe(
      'A schema that the sample data must fit. With `templateId`, its default is the schema of the saved template.',
    ),
    output: z
      .enum(['html', 'pdf'])
      .default('html')
      .describe('`pdf` makes a test render of the HTML: follow its job as that of a test key.'),
    options: renderRequestSchema.shape.options.describe(
      'Options of the PDF; `locale`, `timezone` and `strictData` apply to the HTML as well. They have precedence over those of a saved template.',
    ),
  })
  .refine((given) => (given.content === undefined) !== (given.templateId === undefined), {
    message: 'exactly one of content and templateId is required',
    when: isObject,
  })
  .meta({ id: 'PreviewRequest', description: 'Exactly one of `content` and `templateId` is required.' });

export const previewSchema = z.strictObject({ html: z.string() }).meta({ id: 'Preview' });
