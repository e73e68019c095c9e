import { z } from 'zod';
import { OPTIONS } from '../../render/options/generated/options.ts';
import type { FormBody } from '../request/route.ts';
import { DELIVERY_FIELDS, SENT_PDF_FIELDS, SENT_PDF_FORM } from './conversion-schema.ts';

const { values, flatten } = OPTIONS.fill.schema.shape;
/** What describes an optional value does not describe the value in it. */
const required = values.unwrap().describe(values.description!);

/** The body of `POST /v1/pdf/fill`. */
export const fillRequestSchema = z
  .strictObject({ ...SENT_PDF_FIELDS, values: required, flatten, ...DELIVERY_FIELDS })
  .meta({
    id: 'FillRequest',
    description: 'Exactly one of `pdf` (or the file of a form) and `jobId`.',
  });

/** The body of `POST /v1/pdf/flatten`. */
export const flattenRequestSchema = z.strictObject({ ...SENT_PDF_FIELDS, ...DELIVERY_FIELDS }).meta({
  id: 'FlattenRequest',
  description: 'Exactly one of `pdf` (or the file of a form) and `jobId`.',
});

/** The same as forms. */
export const FILL_FORM: FormBody = {
  description:
    'The PDF as the file `file`, and every other field as a part of its name: `values` and `flatten` as JSON.',
  file: SENT_PDF_FORM.file,
  json: ['values', 'flatten'],
};
export const FLATTEN_FORM: FormBody = {
  description: 'The PDF as the file `file`, and every other field as a part of its name.',
  file: SENT_PDF_FORM.file,
  json: [],
};
