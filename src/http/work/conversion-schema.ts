import { z } from 'zod';
import { conversionOptionsSchema } from '../../render/conversion/conversion-options.ts';
import { isBase64 } from '../../render/options/core/text-checks.ts';
import { OPTIONS } from '../../render/options/generated/options.ts';
import type { FormBody } from '../request/route.ts';
import { callbackErrors, renderRequestSchema } from './render-request-schema.ts';

/** Characters of a PDF in base64. A body of that size is refused under every plan: see `maxInputSizeBytes`. */
const MAX_PDF = 15 * 1024 * 1024;
const { output, filename, executionMode, webhookUrl, uploadUrl } = renderRequestSchema.shape;

/** The fields that state which PDF is meant; `sentPdfErrors` has the rule between them. */
export const SENT_PDF_FIELDS = {
  pdf: z
    .string()
    .min(1)
    .max(MAX_PDF)
    .check(isBase64())
    .optional()
    .describe('The PDF in base64. A file is sent more easily as `multipart/form-data`.'),
  jobId: z
    .uuid()
    .toLowerCase()
    .optional()
    .describe('Instead of a file: a job of the account whose PDF is still kept.'),
};

/** The fields that state how the result is delivered, as those of a render do. */
export const DELIVERY_FIELDS = { output, filename, executionMode, webhookUrl, uploadUrl };

/** The same as a form. */
export const SENT_PDF_FORM: FormBody = {
  description: 'The PDF as the file `file`, and every other field as a part of its name: `options` as JSON.',
  file: { part: 'file', field: 'pdf' },
  json: ['options'],
};

/** The body of `POST /v1/pdf/convert`. */
export const conversionRequestSchema = z
  .strictObject({
    ...SENT_PDF_FIELDS,
    ...DELIVERY_FIELDS,
    options: conversionOptionsSchema.default({}),
  })
  .meta({
    id: 'ConversionRequest',
    description: 'Exactly one of `pdf` (or the file of a form) and `jobId`.',
  });

export type ConversionRequest = z.output<typeof conversionRequestSchema>;

/** Checks the rules between the fields of a conversion. @returns an error for each violation. */
export function conversionErrors(given: unknown): string[] {
  return [...sentPdfErrors(given), ...callbackErrors(given)];
}

/** Checks that a request names one PDF. @returns an error for each violation. */
export function sentPdfErrors(given: unknown): string[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return [];
  const { pdf, jobId } = given as Readonly<Record<string, unknown>>;
  if (pdf === undefined && jobId === undefined) return ['one of file (of a form), pdf and jobId is required'];
  return pdf !== undefined && jobId !== undefined
    ? ['only one of file (of a form), pdf and jobId may be given, not two']
    : [];
}

/** Says why an option of renders is none of conversions. */
export function describeConversionError(error: string): string {
  const name = /^options\.(\w+): is not known$/.exec(error)?.[1];
  if (name === undefined || !Object.hasOwn(OPTIONS, name)) return error;
  return `options.${name}: is for documents that are rendered: the pages of a PDF stay as they are`;
}
