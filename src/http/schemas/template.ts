import { z } from 'zod';
import { findJsonFault } from '../json-fault.ts';
import { type JsonBounds, jsonExcess } from '../json-size.ts';
import { page } from './paging.ts';
import { MAX_DATA_DEPTH } from './render-request.ts';

const MAX_NAME = 200;
/** Far fewer names and values than a body may have: they stand in a text, which is parsed besides the body. */
const MAX_SAMPLE: JsonBounds = { parts: 50_000, names: 25_000, depth: MAX_DATA_DEPTH };

const time = z.iso.datetime();
const name = z.string().trim().min(1).max(MAX_NAME);
const content = z
  .string()
  .min(1)
  .describe('HTML with Liquid: `{{name}}`, `{{a.b}}`, loops, conditions, filters.');
const sampleData = z
  .string()
  .check((context) => {
    const fault = jsonFaultOf(context.value);
    if (fault === undefined) return;
    context.issues.push({ code: 'custom', input: context.value, message: fault });
  })
  .describe('A JSON document serialized as a string.');

/** For checks that are to run even when a field is faulty, so that all faults are told at once. */
function isObject({ value }: { readonly value: unknown }): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function jsonFaultOf(text: string): string | undefined {
  const excess = jsonExcess(Buffer.from(text), MAX_SAMPLE);
  if (excess !== undefined) return `must not have ${excess}`;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return `must be a JSON document: ${findJsonFault(text)}`;
  }
}

export const templateSchema = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    content: z.string(),
    sampleData: z.string(),
    versionId: z.uuid().describe('The version that renders use unless they pin another.'),
    version: z.int().min(1),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Template' });

export const templateListSchema = z
  .strictObject({ ...page, templates: z.array(templateSchema) })
  .meta({ id: 'TemplateList' });

const versionFields = {
  id: z.uuid(),
  versionId: z.uuid().describe('The same as `id`, by the name it has elsewhere.'),
  templateId: z.uuid(),
  version: z.int().min(1),
  name: z.string(),
  current: z.boolean().describe('Whether renders use it unless they pin another.'),
  createdAt: time,
};
const versionRowSchema = z.strictObject(versionFields).meta({ id: 'TemplateVersionSummary' });

export const templateVersionSchema = z
  .strictObject({ ...versionFields, content: z.string(), sampleData: z.string() })
  .meta({ id: 'TemplateVersion' });

export const templateVersionListSchema = z
  .strictObject({ ...page, versions: z.array(versionRowSchema) })
  .meta({ id: 'TemplateVersionList' });

/** The body of `POST /user/templates`. */
export const templateRequestSchema = z
  .strictObject({ name, content, sampleData: sampleData.default('{}') })
  .meta({ id: 'TemplateRequest' });

/** The body of `PATCH /user/templates/:id`. */
export const templateChangeSchema = z
  .strictObject({ name: name.optional(), content: content.optional(), sampleData: sampleData.optional() })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    message: 'one of name, content, sampleData is required',
    when: isObject,
  })
  .meta({ id: 'TemplateChange', minProperties: 1 });

/** The body of `POST /user/templates/preview`. */
export const previewRequestSchema = z
  .strictObject({
    content: content.optional(),
    templateId: z.uuid().toLowerCase().optional().describe('A saved template instead of `content`.'),
    sampleData: sampleData
      .optional()
      .describe('A JSON document serialized as a string; without it that of the saved template, or nothing.'),
  })
  .refine((given) => (given.content === undefined) !== (given.templateId === undefined), {
    message: 'exactly one of content and templateId is required',
    when: isObject,
  })
  .meta({ id: 'PreviewRequest', oneOf: [{ required: ['content'] }, { required: ['templateId'] }] });

export const previewSchema = z.strictObject({ html: z.string() }).meta({ id: 'Preview' });
