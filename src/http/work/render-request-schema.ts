import { z } from 'zod';
import { renderOptionsSchema } from '../../render/options/all/render-options.ts';
import { addressSchema, lineSchema } from '../../render/options/core/text-schemas.ts';
import { INPUT_FIELDS, INPUT_KINDS } from '../../work/inputs/inputs.ts';

const SOURCES = INPUT_KINDS.map(({ field }) => field);
/** Fields that are only allowed together with another one, and that one. */
const DEPENDENT_FIELDS = INPUT_KINDS.flatMap(({ field, fields }) =>
  Object.keys(fields)
    .filter((name) => name !== field)
    .toSorted()
    .map((name) => [name, field] as const),
);

/** The address of a callback; the route checks whether it may be called. */
export const webhookUrlSchema = addressSchema(2048, ['https:'], 'must be an absolute https address').meta({
  format: 'uri',
});

/** The address of an upload; the route checks whether it may be reached, and for how long it is valid. */
const uploadUrlSchema = addressSchema(4096, ['https:'], 'must be an absolute https address').meta({
  format: 'uri',
});

/** The body of `POST /v1/pdf`; `renderErrors` has the rules between its fields. */
export const renderRequestSchema = z
  .strictObject({
    ...INPUT_FIELDS,
    output: z
      .enum(['binary', 'url'])
      .default('binary')
      .describe('`binary` responds with the PDF, `url` with a signed address to download it from.'),
    filename: lineSchema({ min: 1, max: 255 }).optional().describe('Name of the PDF file.'),
    executionMode: z
      .enum(['sync', 'async'])
      .default('sync')
      .describe('`sync` waits a while for the render to end; `async` responds with 202 at once.'),
    webhookUrl: webhookUrlSchema
      .optional()
      .describe(
        'Where the end of the render is told. Needs `executionMode` = `async`. Plans professional and business.',
      ),
    uploadUrl: uploadUrlSchema
      .optional()
      .describe(
        'A signed address of S3, Google Cloud Storage or Azure, where the PDF is put. Plans professional and business.',
      ),
    report: z.boolean().optional().describe('Same as `options.report`, and counts before it.'),
    strictData: z.boolean().optional().describe('Same as `options.strictData`, and counts before it.'),
    options: renderOptionsSchema.default({}),
  })
  .meta({
    id: 'RenderRequest',
    // In words: of these rules as a schema, generators make classes that cannot be used.
    description: `Exactly one of ${SOURCES.map((source) => `\`${source}\``).join(', ')} is required. ${DEPENDENT_FIELDS.map(([name, field]) => `\`${name}\` needs \`${field}\``).join(', ')}.`,
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
  if (fields.url !== undefined && hasBaseUrl(fields.options))
    errors.push('options.baseUrl: must not be given with url, whose document has an address of its own');
  for (const [name, field] of DEPENDENT_FIELDS) {
    if (fields[name] !== undefined && fields[field] === undefined)
      errors.push(`${name}: may only be given together with ${field}`);
  }
  return errors;
}

function hasBaseUrl(options: unknown): boolean {
  return typeof options === 'object' && options !== null && 'baseUrl' in options;
}

/** Checks the same rules, and the rules of a single render. @returns an error for each violation. */
export function renderErrors(given: unknown): string[] {
  return [...inputErrors(given), ...callbackErrors(given)];
}

/** Checks the rules of the callback of a single job. @returns an error for each violation. */
export function callbackErrors(given: unknown): string[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return [];
  const { webhookUrl, executionMode } = given as Readonly<Record<string, unknown>>;
  return webhookUrl !== undefined && executionMode !== 'async'
    ? ['webhookUrl: may only be given together with executionMode async']
    : [];
}
