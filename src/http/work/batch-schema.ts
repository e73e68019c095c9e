import { z } from 'zod';
import { shortRecord } from '../../render/options/core/short-list.ts';
import { holds } from '../../render/options/core/text-checks.ts';
import { lineSchema, linesSchema } from '../../render/options/core/text-schemas.ts';
import { BATCH_STATUSES } from '../../work/batches/batch.ts';
import { ITEM_STATUSES } from '../../work/batches/batch-item.ts';
import { itemIdSchema } from '../../work/batches/item-id.ts';
import { INPUT_FIELDS } from '../../work/inputs/inputs.ts';
import { MAX_ERRORS, quoted } from '../request/field-errors.ts';
import { page } from '../request/paging-schema.ts';
import { jobErrorSchema } from './attempt-schema.ts';
import { inputErrors, renderRequestSchema, webhookUrlSchema } from './render-request-schema.ts';
import { batchSourceSchema, MAX_PROOF, sourceErrors, sourceSchema } from './source-schema.ts';
import { uploadSchema } from './upload-fields.ts';

const time = z.iso.datetime();
const count = z.int().min(0);
const MAX_NOTES = 2000;
const MAX_METADATA = { entries: 50, key: 100, value: 500 };

const { filename, report, strictData, options, uploadUrl } = renderRequestSchema.shape;

const itemId = itemIdSchema.describe('Names the item; unique within the batch.');

/** A field of a record in the database, which has a meaning of its own for names with a `$`, and for `_bsontype`. */
const metadataName = lineSchema({ min: 1, max: MAX_METADATA.key }).check(
  holds((name) => !name.startsWith('$') && name !== '_bsontype', 'must not begin with "$" or be "_bsontype"'),
);

const batchItemSchema = z
  .strictObject({
    id: itemId,
    ...INPUT_FIELDS,
    filename,
    uploadUrl,
    report,
    strictData,
    options,
  })
  .meta({ id: 'BatchItemInput' });

/** The body of `POST /v1/pdf/batch`; `batchErrors` has the rules between its fields. */
export const batchRequestSchema = z
  .strictObject({
    items: z
      .array(batchItemSchema)
      .min(2)
      .optional()
      .describe('The documents to render. The plan limits how many there may be. Required without `source`.'),
    source: sourceSchema.optional(),
    proof: z
      .int()
      .min(1)
      .max(MAX_PROOF)
      .optional()
      .describe(
        'Renders so many rows of `source` first; the batch then waits for its release: `POST /v1/pdf/batch/{id}/release`.',
      ),
    webhookUrl: webhookUrlSchema
      .optional()
      .describe('Where a signed callback is sent when the batch has ended. Plans professional and business.'),
    expiresInHours: z
      .int()
      .min(0)
      .max(24 * 366)
      .optional()
      .describe(
        'Hours that the outputs are kept after the end of the batch; 0: each is deleted once it has arrived at its `uploadUrl`, which every item then has. Maximum and default: the retention of the plan.',
      ),
    notes: linesSchema(MAX_NOTES).optional().describe('Any text, which is kept with the batch.'),
    metadata: shortRecord(
      z.record(metadataName, linesSchema(MAX_METADATA.value)),
      MAX_METADATA.entries,
      `must hold at most ${MAX_METADATA.entries} entries`,
    )
      .optional()
      .describe('Any text, which is kept with the batch.'),
  })
  .meta({ id: 'BatchRequest' });

export type BatchRequest = z.output<typeof batchRequestSchema>;

/** @returns an error for each violated rule between items, or between the fields of one. */
export function batchErrors(given: unknown): string[] {
  const items = itemsOf(given);
  const errors: string[] = sourceErrors(given);
  const firstOf = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    if (errors.length >= MAX_ERRORS) break;
    errors.push(...inputErrors(item).map((problem) => `items[${index}]: ${problem}`));
    const id = idOf(item);
    if (id === undefined) continue;
    const first = firstOf.get(id);
    if (first === undefined) firstOf.set(id, index);
    else errors.push(`items[${index}].id: is that of items[${first}] as well`);
  }
  return errors;
}

/** An error with the id of its item, if it has one: `items[3] ("inv-3").options.scale: must be at most 2`. */
export function nameItem(problem: string, given: unknown): string {
  const match = /^items\[(\d{1,6})\]/.exec(problem);
  const id = match === null ? undefined : idOf(itemsOf(given)[Number(match[1])]);
  if (match === null || id === undefined) return problem;
  return `${match[0]} (${quoted(id)})${problem.slice(match[0].length)}`;
}

function itemsOf(given: unknown): readonly unknown[] {
  const { items } = (given ?? {}) as { readonly items?: unknown };
  return Array.isArray(items) ? items : [];
}

function idOf(item: unknown): string | undefined {
  const { id } = (item ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
}

export const acceptedBatchSchema = z
  .strictObject({
    jobId: z.uuid(),
    status: z.literal('queued'),
    itemCount: count,
    totalCount: count,
    statusUrl: z.string(),
    estimatedCompletionTime: time,
    expiresAt: time,
  })
  .meta({ id: 'AcceptedBatch' });

export const batchItemRecordSchema = z
  .strictObject({
    itemId: z.string(),
    status: z.enum(ITEM_STATUSES).describe('A cancelled item has failed with `CANCELLED`.'),
    outputAvailable: z.boolean(),
    downloadUrlEndpoint: z.string(),
    outputExpiresAt: time.nullable(),
    errorMessage: z.string().nullable(),
    retryAttempt: count.nullable(),
    error: jobErrorSchema.nullable(),
    pdfSize: count.describe('Bytes; 0 until completed.'),
    pages: count.describe('0 until completed.'),
    processingTimeMs: count,
    reportEndpoint: z
      .string()
      .optional()
      .describe('Where its report is: from its end on, if one was asked for.'),
    upload: uploadSchema.optional().describe('What became of its upload, if one was asked for.'),
  })
  .meta({ id: 'BatchItem' });

const batchProgressSchema = z
  .strictObject({
    total: count,
    completed: count,
    failed: count,
    pending: count.describe('Items that have not ended.'),
    throttled: count.describe('Those of them that wait for a plan slot.'),
    percentComplete: z.number().min(0).max(100),
  })
  .meta({ id: 'BatchProgress' });

const status = z.enum(BATCH_STATUSES);

/** The response fields of a batch, without its items. */
export const batchFields = {
  jobId: z.uuid(),
  status: status.describe('`completed` when every item has ended, completed or failed.'),
  createdAt: time,
  updatedAt: time,
  completedAt: time.nullable(),
  finishedAt: time.nullable().describe('When the last item ended, also of a batch that was cancelled.'),
  expiresAt: time.describe('Until when outputs can be downloaded. It is computed again when the batch ends.'),
  zipUrl: z.string(),
  manifestAvailable: z.boolean(),
  manifestDownloadUrlEndpoint: z.string(),
  progress: batchProgressSchema,
  estimatedCompletionTime: time.nullable(),
  source: batchSourceSchema.optional(),
  job: z.strictObject({
    id: z.uuid(),
    status,
    accessExpired: z.boolean().describe('Whether the outputs can no longer be downloaded.'),
    totalCount: count,
    completedCount: count,
    failedCount: count,
    createdAt: time,
    updatedAt: time,
    completedAt: time.nullable(),
    finishedAt: time.nullable(),
    expiresAt: time,
    notes: z.string(),
    metadata: z.record(z.string(), z.string()),
  }),
};

export const batchRecordSchema = z
  .strictObject({ ...batchFields, items: z.array(batchItemRecordSchema) })
  .meta({ id: 'Batch' });

export const batchListSchema = z
  .strictObject({ ...page, batches: z.array(z.strictObject(batchFields).meta({ id: 'BatchSummary' })) })
  .meta({ id: 'BatchList' });
