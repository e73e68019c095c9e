import { z } from 'zod';
import { renderOptionsSchema } from '../../options/core/render-options.ts';

/** Levels of nesting: more than real data have. The database supports 100. */
export const MAX_DATA_DEPTH = 64;
/** The usual limit of browsers and proxies. */
const MAX_URL_LENGTH = 8192;
const SOURCES = ['html', 'url', 'templateId'] as const;
const TEMPLATE_FIELDS = ['data', 'templateVersionId'] as const;

/** The address of a callback; the route checks whether it may be called. */
export const webhookUrlSchema = z
  .string()
  .max(2048, { abort: true })
  .refine(
    (text) => URL.canParse(text) && new URL(text).protocol === 'https:',
    'must be an absolute https address',
  )
  .meta({ format: 'uri' });

/** The body of `POST /v1/pdf`; `renderErrors` has the rules between its fields. */
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
      .describe('`binary` responds with the PDF, `url` with a signed address to download it from.'),
    filename: z.string().min(1).max(255).optional().describe('Name of the PDF file.'),
    executionMode: z
      .enum(['sync', 'async'])
      .default('sync')
      .describe('`sync` waits a while for the render to end; `async` responds with 202 at once.'),
    webhookUrl: webhookUrlSchema
      .optional()
      .describe(
        'Where a signed callback goes when the render has ended, with `executionMode` = `async`; professional and business plans.',
      ),
    report: z.boolean().optional().describe('The same as `report` of the options, before which it comes.'),
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

/** Checks the rules between the input fields of a render. @returns an error for each violation. */
export function inputErrors(given: unknown): string[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return [];
  const fields = given as Readonly<Record<string, unknown>>;
  const sources = SOURCES.filter((source) => fields[source] !== undefined);
  const errors: string[] = [];
  if (sources.length === 0) errors.push(`one of ${SOURCES.join(', ')} is required`);
  if (sources.length > 1) {
    errors.push(`only one of ${SOURCES.join(', ')} may be given, not ${sources.join(' and ')}`);
  }
  for (const field of fields.templateId === undefined ? TEMPLATE_FIELDS : []) {
    if (fields[field] !== undefined) errors.push(`${field}: may only be given together with templateId`);
  }
  return errors;
}

/** Checks the same rules, and the rules of a single render. @returns an error for each violation. */
export function renderErrors(given: unknown): string[] {
  const errors = inputErrors(given);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return errors;
  const { webhookUrl, executionMode } = given as Readonly<Record<string, unknown>>;
  if (webhookUrl !== undefined && executionMode !== 'async')
    errors.push('webhookUrl: may only be given together with executionMode async');
  return errors;
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:';
}

/** Level by level instead of recursively, because the caller chooses the nesting. */
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
