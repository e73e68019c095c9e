import { z } from 'zod';
import { addressSchema, lineSchema } from '../../render/options/core/text-schemas.ts';
import { SOURCE_STATES } from '../../work/batches/batch-record.ts';
import { SOURCE_FORMATS } from '../../work/batches/readings.ts';
import { jobErrorSchema } from './attempt-schema.ts';
import { renderRequestSchema } from './render-request-schema.ts';

/** Rows of a proof at most. */
export const MAX_PROOF = 100;
const MAX_URL = 8192;
const MAX_PATTERN = 4096;
const MAX_COLUMN = 255;

const { options, report, strictData } = renderRequestSchema.shape;
const column = lineSchema({ min: 1, max: MAX_COLUMN });

/** Where the items of a batch come from, if it does not list them; `sourceErrors` has the rules between the fields. */
export const sourceSchema = z
  .strictObject({
    url: addressSchema(MAX_URL, ['http:', 'https:'], 'must be an http or https address')
      .optional()
      .describe('The http or https address of the file, which is fetched once.')
      .meta({ format: 'uri' }),
    upload: z.uuid().toLowerCase().optional().describe('A file from `POST /v1/pdf/batch/uploads`.'),
    format: z
      .enum(SOURCE_FORMATS)
      .describe('`csv` with the names of the columns in its first row, or `ndjson`.'),
    delimiter: z
      .enum([',', ';', '\t', '|'])
      .optional()
      .describe('Between the fields of a CSV file. Default: the one that its first row has most often.')
      // Generators make names of the values, which these characters do not give.
      .meta({ 'x-enum-varnames': ['comma', 'semicolon', 'tab', 'bar'] }),
    templateId: z.uuid().toLowerCase().describe('The template that each row is the data of.'),
    templateVersionId: z
      .uuid()
      .toLowerCase()
      .optional()
      .describe('A version of the template; by default its current one.'),
    idColumn: column
      .optional()
      .describe(
        'The column or field with the id of the item. Default: `id`; a row without one is `row-` and its number.',
      ),
    dataField: column
      .optional()
      .describe(
        'The field of each line of an `ndjson` file that has the data of its document, an object. What is beside it, as the id, is no data then. Default: the whole line.',
      ),
    uploadUrl: lineSchema({ min: 1, max: MAX_PATTERN })
      .optional()
      .describe(
        'The https address to which each PDF is put, with `{batchId}`, `{row}` and `{id}`. Plans professional and business.',
      ),
    uploadUrlColumn: column
      .optional()
      .describe('The column or field with the signed address of each row. Plans professional and business.'),
    report,
    strictData,
    options,
  })
  .meta({
    id: 'BatchSourceInput',
    description:
      'A file, each row of which is the data of one document. Exactly one of `url` and `upload` is required; `uploadUrl` and `uploadUrlColumn` exclude each other.',
  });

/** @returns an error for each violated rule about the source of a batch. */
export function sourceErrors(given: unknown): string[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return [];
  const { items, source, proof } = given as Readonly<Record<string, unknown>>;
  const errors: string[] = [];
  if (items === undefined && source === undefined) errors.push('items: is required without source');
  if (items !== undefined && source !== undefined)
    errors.push('source: only one of items, source may be given');
  if (proof !== undefined && source === undefined)
    errors.push('proof: may only be given together with source');
  if (typeof source !== 'object' || source === null) return errors;
  const { url, upload, format, dataField, uploadUrl, uploadUrlColumn } = source as Readonly<
    Record<string, unknown>
  >;
  if ((url === undefined) === (upload === undefined))
    errors.push('source: exactly one of url, upload is required');
  if (dataField !== undefined && format === 'csv')
    errors.push('source.dataField: may only be given for ndjson, whose lines have objects in them');
  if (uploadUrl !== undefined && uploadUrlColumn !== undefined)
    errors.push('source: only one of uploadUrl, uploadUrlColumn may be given');
  if (typeof uploadUrl === 'string' && !/\{(row|id)\}/.test(uploadUrl))
    errors.push('source.uploadUrl: must hold {row} or {id}, so that each PDF has an address of its own');
  return errors;
}

const rows = z.int().min(0);
const time = z.iso.datetime();

/** What becomes of the file of a batch. */
export const batchSourceSchema = z
  .strictObject({
    state: z
      .enum(SOURCE_STATES)
      .describe(
        '`awaiting_release` after the proof; `waiting` as `waitsFor` says; `cut` when rows were not read: `error` says why, unless the batch was cancelled.',
      ),
    rows: rows.nullable().describe('Rows of the file; null until they are counted.'),
    rowsRead: rows.describe('Rows that have become items.'),
    proof: rows.nullable().describe('Rows that are rendered before the batch waits for its release.'),
    releasedAt: time.nullable().describe('When the owner released it after its proof.'),
    deadline: time.describe('Rows that have not been read by then are not rendered.'),
    waitsFor: jobErrorSchema.nullable().describe('Why no row is read at the moment. It goes on by itself.'),
    error: jobErrorSchema.nullable().describe('Why no further row is read.'),
  })
  .meta({ id: 'BatchSource' });
