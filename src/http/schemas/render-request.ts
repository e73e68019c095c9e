import { z } from 'zod';
import { renderOptionsSchema } from '../../jobs/render-options.ts';

/** Deeper than any data is; the database takes a hundred levels. */
export const MAX_DATA_DEPTH = 64;
/** As browsers and proxies have it. */
const MAX_URL_LENGTH = 8192;
const SOURCES = ['html', 'url', 'templateId'] as const;
const TEMPLATE_FIELDS = ['data', 'templateVersionId'] as const;

/** Where a callback goes; what may be reached is for the route to check. */
export const webhookUrlSchema = z
  .string()
  .max(2048, { abort: true })
  .refine(
    (text) => URL.canParse(text) && new URL(text).protocol === 'https:',
    'must be an absolute https address',
  )
  .meta({ format: 'uri' });

/** The body of `POST /v1/pdf`; `inputFaults` has the rules between its fields. */
export const renderRequestSchema = z
  .strictObject({
    html: z.string().min(1).optional().describe('Input source: an HTML document.'),
    url: z
      .string()
      .max(MAX_URL_LENGTH, { abort: true })
      .refine(isHttpUrl, 'must be an http or https address')
      .optional()
      .describe('Input source: the http or https address of a page.')
      .meta({ format: 'uri' }),
    templateId: z.uuid().toLowerCase().optional().describe('Input source: a saved template of the account.'),
    templateVersionId: z
      .uuid()
      .toLowerCase()
      .optional()
      .describe('Pins a version of the template; otherwise its current one is used.'),
    data: z
      .record(z.string(), z.unknown())
      .refine(isShallow, `must not be nested deeper than ${MAX_DATA_DEPTH} levels`)
      .optional()
      .describe("Values of the template's variables."),
    output: z
      .enum(['binary', 'url'])
      .default('binary')
      .describe('`binary` answers with the PDF, `url` with a signed address to download it from.'),
    filename: z.string().min(1).max(255).optional().describe('Name of the PDF file.'),
    executionMode: z
      .enum(['sync', 'async'])
      .default('sync')
      .describe('`sync` waits a while for the render to end; `async` answers 202 at once.'),
    webhookUrl: webhookUrlSchema
      .optional()
      .describe(
        'Where a signed callback goes when the render has ended, with `executionMode` = `async`; professional and business plans.',
      ),
    options: renderOptionsSchema.default({}),
  })
  .meta({
    id: 'RenderRequest',
    oneOf: SOURCES.map((source) => ({ required: [source] })),
    dependentRequired: Object.fromEntries(TEMPLATE_FIELDS.map((field) => [field, ['templateId']])),
    dependentSchemas: {
      webhookUrl: { required: ['executionMode'], properties: { executionMode: { const: 'async' } } },
    },
  });

export type RenderRequest = z.output<typeof renderRequestSchema>;

/** Rules between the fields of a render's input. @returns a fault for each that is broken. */
export function inputFaults(given: unknown): string[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return [];
  const fields = given as Readonly<Record<string, unknown>>;
  const sources = SOURCES.filter((source) => fields[source] !== undefined);
  const faults: string[] = [];
  if (sources.length === 0) faults.push(`one of ${SOURCES.join(', ')} is required`);
  if (sources.length > 1) {
    faults.push(`only one of ${SOURCES.join(', ')} may be given, not ${sources.join(' and ')}`);
  }
  for (const field of fields.templateId === undefined ? TEMPLATE_FIELDS : []) {
    if (fields[field] !== undefined) faults.push(`${field}: may only be given together with templateId`);
  }
  return faults;
}

/** The same, and those of a render that is asked for by itself. */
export function renderFaults(given: unknown): string[] {
  const faults = inputFaults(given);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return faults;
  const { webhookUrl, executionMode } = given as Readonly<Record<string, unknown>>;
  if (webhookUrl !== undefined && executionMode !== 'async')
    faults.push('webhookUrl: may only be given together with executionMode async');
  return faults;
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:';
}

/** Level by level, not by recursion: the nesting is the caller's. */
function isShallow(data: unknown): boolean {
  let level: unknown[] = [data];
  for (let depth = 0; depth <= MAX_DATA_DEPTH; depth += 1) {
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null
        ? Object.values(value).filter((inner) => typeof inner === 'object' && inner !== null)
        : [],
    );
    if (level.length === 0) return true;
  }
  return false;
}
