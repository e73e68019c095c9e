import { mongo } from 'mongoose';
import type { Core } from '../../../infra/core.ts';
import { PlatenError } from '../../../infra/errors/registry.ts';
import type { TraceContext } from '../../../infra/tracing/trace-context.ts';
import type { RenderOptions } from '../../../render/options/all/render-options.ts';
import type { Caller } from '../../../tenants/accounts/caller.ts';
import { callbackBytes } from '../../jobs/job.ts';
import { retentionOf } from '../../jobs/new-job.ts';
import type { Jobs } from '../../jobs/open-jobs.ts';
import { type Batch, chunkSizeOf } from '../batch.ts';
import { type BatchSubmission, chunkIds, OR_KEEP } from '../batch-admission.ts';
import type { BatchStore } from '../batch-store.ts';
import type { SourceOrder } from '../readings.ts';
import type { SourceFiles } from './source-files.ts';
import type { SourcedBatches } from './sourced-batches.ts';

/** A batch whose items are the rows of a file. Its template exists, and its fields have been checked. */
export interface SourceSubmission extends Omit<BatchSubmission, 'items'> {
  readonly order: Omit<SourceOrder, 'fileId' | 'hasSchema'>;
  /** The id of an uploaded file; absent when it is fetched. */
  readonly upload?: string;
  /** The content of the template. */
  readonly content: string;
  /** The JSON Schema of its data. */
  readonly schema?: string;
  readonly options: RenderOptions;
  /** Rows that are rendered before the batch waits for its release. */
  readonly proof?: number;
}

const HOUR_MS = 3_600_000;
/** Approximate bytes of the records of a batch and its reading without their texts. */
const RECORD_BYTES = 2048;
/** Batches of one account whose files are being read, or wait to be. */
const MAX_READINGS = 20;

interface AdmissionCore extends Pick<Core, 'clock'>, Pick<Jobs, 'stored' | 'store'> {
  readonly batches: Pick<BatchStore, 'readings'>;
  readonly sourced: SourcedBatches;
  readonly files: SourceFiles;
}

/**
 * Accepts a batch with a source. Nothing of its rows is reserved: a reader does that step by step.
 *
 *    1 take      the upload, and storage for the records
 *    2 write     what all inputs share, then the reading, then the batch, which makes it durable
 *
 * After a crash before the end of 2 the reader deletes the reading, the upload's time passes, and the recount gives the
 * storage back.
 *
 * @throws PlatenError PLAN_LIMIT for PDFs that nobody would receive; NOT_FOUND for an upload that the caller does not have; STORAGE_FULL; TOO_MANY_WAITING.
 */
export async function admitSource(
  deps: AdmissionCore,
  caller: Caller,
  submission: SourceSubmission,
  trace?: TraceContext,
): Promise<Batch> {
  const { batches, sourced, files, stored, store, clock } = deps;
  const { batchId, upload, content, options, schema, proof, notes, metadata, webhookUrl } = submission;
  const { accountId, plan } = caller;
  const test = caller.mode === 'test';
  const now = clock.now();
  const kept = retentionOf(submission.retentionHours);
  const { uploadUrl, uploadUrlColumn } = submission.order;
  if (kept.keepsNothing && uploadUrl === undefined && uploadUrlColumn === undefined)
    throw new PlatenError(
      'PLAN_LIMIT',
      `source: PDFs of this batch are not kept. Give an uploadUrl or an uploadUrlColumn${OR_KEEP}`,
    );
  const deadline = new Date(now.getTime() + kept.retentionHours * HOUR_MS);
  if ((await batches.readings.ofAccount(accountId)) >= MAX_READINGS)
    throw new PlatenError('TOO_MANY_WAITING', `${MAX_READINGS} batches of this account are being read.`, {
      retryAfterSeconds: 60,
    });
  const texts = [content, JSON.stringify(options), ...(schema === undefined ? [] : [schema])];
  const chunks = chunkIds(batchId, texts.length).map((_id, i) => ({
    _id,
    content: new mongo.Binary(Buffer.from(texts[i]!)),
  }));
  const sharedBytes = chunks.reduce((sum, chunk) => sum + chunk.content.length(), 0);
  const recordBytes =
    RECORD_BYTES +
    Buffer.byteLength(JSON.stringify([notes, metadata, submission.order])) +
    (webhookUrl === null ? 0 : callbackBytes(webhookUrl));
  if (upload !== undefined && !(await files.use(upload, { accountId, test }, batchId, deadline)))
    throw new PlatenError('NOT_FOUND', `source.upload: there is no unused upload ${upload}.`);
  const bytes = sharedBytes + recordBytes;
  if (!(await stored.take(accountId, { bytes, max: plan.maxStoredBytes }))) {
    if (upload !== undefined) await files.release(upload, batchId);
    throw new PlatenError('STORAGE_FULL');
  }
  await store.inputs.save([], chunks);
  const order = { ...submission.order, fileId: upload ?? batchId, hasSchema: schema !== undefined };
  const isFetched = upload === undefined;
  await batches.readings.schedule(batchId, now, {
    $set: { accountId, createdAt: now, order, ...(isFetched && { fetches: true as const }) },
  });
  const batch: Batch = {
    ...{ _id: batchId, accountId, apiKeyId: caller.apiKeyId, plan: caller.planName, test },
    quotaPeriod: null,
    phase: 'reading',
    source: { read: 0, deadline, ...(proof !== undefined && { proof }) },
    busyUntil: now,
    total: 0,
    chunkSize: chunkSizeOf(0),
    expanded: 0,
    firstPosition: 0,
    sharedParts: texts.length,
    ...{ sharedBytes, recordBytes, notes, metadata, webhookUrl },
    ...(caller.ownerFence !== undefined && { ownerFence: caller.ownerFence }),
    ...(trace !== undefined && { trace }),
    createdAt: now,
    updatedAt: now,
    cancelledAt: null,
    finishedAt: null,
    ...kept,
    expiresAt: deadline,
    expectedSeconds: 0,
  };
  await sourced.accept(batch);
  return batch;
}
