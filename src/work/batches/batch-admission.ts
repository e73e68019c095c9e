import { PlatenError } from '../../infra/errors/registry.ts';
import type { PendingAdmission } from '../../infra/overload/pending-admission.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import { quotaPeriod } from '../../tenants/plans/quota-period.ts';
import type { JobSource } from '../inputs/inputs.ts';
import { quotaOf, rejectIfSlow, tookTooLong } from '../jobs/admission.ts';
import { rejectionOf } from '../jobs/admission-rejection.ts';
import { withExtension } from '../jobs/blocks/quota-extension.ts';
import { callbackBytes } from '../jobs/job.ts';
import type { QuotaLimit } from '../jobs/ledger/ledger-filter.ts';
import { newInput, optionFacts, retentionOf } from '../jobs/new-job.ts';
import { BATCH_QUEUE } from '../jobs/priority-queues.ts';
import { shareChunks } from '../jobs/store/shared-chunks.ts';
import { type Batch, type BatchItem, chunkSizeOf, itemJobId } from './batch.ts';
import type { BatchCore } from './batch-core.ts';
import { EXPANDER_MS } from './expansion.ts';

/** One document of a batch, whose fields have been validated and whose template exists. */
export interface ItemSubmission {
  /** The caller's own id of the item. */
  readonly id: string;
  /** Already sanitised. */
  readonly fileName: string;
  readonly source: JobSource;
  readonly options: RenderOptions;
  /** Where its PDF is put; already checked. */
  readonly uploadUrl?: string;
}

export interface BatchSubmission {
  readonly batchId: string;
  readonly items: readonly ItemSubmission[];
  readonly notes: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly webhookUrl: string | null;
  /** 0: each PDF is deleted once it is delivered, so each item has an `uploadUrl`. */
  readonly retentionHours: number;
}

const HOUR_MS = 3_600_000;
/** Estimated time of an item in a slot before any item has ended, in seconds. */
const GUESSED_ITEM_S = 1;

/**
 * Admits batches: all items of a batch, or none. The cost does not depend on how long the items take to render.
 *
 *    1 take      positions and quota for all items, in one update of the account's ledger
 *    2 write     the chunks of items, then their inputs, then the batch, which makes it durable
 *
 * Then the caller gets its response, and the jobs are written (expansion.ts). After a crash:
 *
 *    after 1     positions without jobs: jobs/sweeps/interrupted-jobs.ts gives them back with their quota; before that it
 *                has `forgetUnless` delete the items and inputs that were written
 *    after 2     a batch whose jobs are not written: a sweep expands it (batch-reconciler.ts)
 */
export class BatchAdmission {
  readonly #deps: BatchCore;

  constructor(deps: BatchCore) {
    this.#deps = deps;
  }

  /**
   * Admits a batch. When it resolves, the batch is durable, and has to be expanded.
   *
   * @throws PlatenError PLAN_LIMIT, QUOTA_EXCEEDED, TEST_QUOTA_EXCEEDED, OVERAGE_PENDING, STORAGE_FULL, TOO_MANY_WAITING or
   * INPUT_TOO_LARGE; nothing of the batch remains then.
   */
  async admit(
    caller: Caller,
    submission: BatchSubmission,
    { timer, releasePermit, trace }: PendingAdmission,
  ): Promise<Batch> {
    const { batches, store, ledger, clock } = this.#deps;
    const now = clock.now();
    const { batchId, items } = submission;
    const kept = retentionOf(submission.retentionHours);
    if (kept.keepsNothing) requireUploads(items);
    const inputs = items.map(({ id, source, options }, position) => {
      const jobId = itemJobId({ _id: batchId }, position, id);
      return newInput({ jobId, source, options }, caller, now);
    });
    const shared = shareChunks(batchId, inputs);
    const inputBytes = shared.inputs.map(({ content }) => content.length());
    const sharedBytes = sum(shared.chunks.map(({ content }) => content.length()));
    const recordBytes = recordBytesOf(submission);
    const bytes = sum(inputBytes) + sharedBytes + recordBytes;
    const { quotaExtension } = this.#deps;
    const ofJob = { test: caller.mode === 'test', quotaPeriod: periodOf(caller, now) };
    const plain = quotaOf(ofJob, caller.plan, now);
    const need = { accountId: caller.accountId, count: items.length, plain, releasePermit };
    const { taken, began } = await timer.time('reserve', () =>
      withExtension(quotaExtension, need, (quota) => this.#take(caller, submission, bytes, quota, now)),
    );
    const { first, expectedSeconds } = taken;
    const chunkSize = chunkSizeOf(items.length);
    await batches.saveChunks(batchId, chunksOf(items, inputBytes, chunkSize));
    await store.inputs.save(shared.inputs, shared.chunks);
    rejectIfSlow(began);
    const batch: Batch = {
      _id: batchId,
      accountId: caller.accountId,
      apiKeyId: caller.apiKeyId,
      plan: caller.planName,
      test: caller.mode === 'test',
      quotaPeriod: periodOf(caller, now),
      phase: 'expanding',
      busy: true,
      busyUntil: new Date(now.getTime() + EXPANDER_MS),
      total: items.length,
      chunkSize,
      expanded: 0,
      firstPosition: first,
      sharedParts: shared.chunks.length,
      sharedBytes,
      recordBytes,
      notes: submission.notes,
      metadata: submission.metadata,
      webhookUrl: submission.webhookUrl,
      ...(caller.ownerFence !== undefined && { ownerFence: caller.ownerFence }),
      ...(trace !== undefined && { trace }),
      createdAt: now,
      updatedAt: now,
      cancelledAt: null,
      finishedAt: null,
      ...kept,
      expiresAt: new Date(now.getTime() + kept.retentionHours * HOUR_MS),
      expectedSeconds,
    };
    await batches.accept(batch);
    const record = await timer.time('confirm', () => ledger.find(caller.accountId));
    if (record?.pending?.[batchId] === undefined) {
      // A sweep has taken this process for dead, and has given back what it had reserved.
      await batches.withdraw(batchId);
      throw tookTooLong();
    }
    return batch;
  }

  /** Gives back at once what an earlier attempt of the same request reserved for a batch that it never wrote. */
  async abandon(accountId: string, batchId: string): Promise<void> {
    const { ledger } = this.#deps;
    const pending = (await ledger.find(accountId))?.pending?.[batchId];
    if (pending?.batchOf === undefined || (await this.forgetUnless(batchId, pending.batchOf))) return;
    const { batchOf, quota, since, bytes } = pending;
    await ledger.undoPositions(accountId, batchId, batchOf, quota, since, bytes);
  }

  /** @returns true when the batch is durable; otherwise everything written for it is deleted. */
  async forgetUnless(batchId: string, items: number): Promise<boolean> {
    const { batches, store } = this.#deps;
    if ((await batches.find(batchId)) !== undefined) return true;
    const size = chunkSizeOf(items);
    const chunks = Math.ceil(items / size);
    for (let number = 0; number < chunks; number += 1) {
      const written = await batches.chunk(batchId, number);
      const ids = written.map(({ id }, i) => itemJobId({ _id: batchId }, number * size + i, id));
      await store.inputs.delete(ids);
    }
    // At most two for each item: its markup and its options.
    await store.inputs.deleteChunks(chunkIds(batchId, 2 * items));
    await batches.deleteChunks(batchId, chunks);
    return false;
  }

  async #take(
    caller: Caller,
    { batchId, items }: BatchSubmission,
    bytes: number,
    quota: QuotaLimit | undefined,
    now: Date,
  ): Promise<{ first: number; expectedSeconds: number }> {
    const { ledger } = this.#deps;
    const { accountId, plan } = caller;
    const stored = { bytes, max: plan.maxStoredBytes };
    const admission = { id: batchId, jobs: [], batchOf: items.length, queue: BATCH_QUEUE };
    const limits = { maxWaiting: plan.maxWaitingJobs, quota, stored };
    const first = await ledger.takePositions(accountId, admission, limits);
    const record = await ledger.find(accountId);
    if (first === undefined) throw rejectionOf(record, items.length, caller, limits, now);
    const before = (record?.waiting ?? 0) + (record?.inFlight ?? 0);
    return { first, expectedSeconds: Math.ceil((before * GUESSED_ITEM_S) / plan.concurrentRenders) };
  }
}

/** @throws PlatenError PLAN_LIMIT for an item whose PDF nobody would receive. */
function requireUploads(items: readonly ItemSubmission[]): void {
  const without = items.find(({ uploadUrl }) => uploadUrl === undefined);
  if (without === undefined) return;
  const message = `items: "${without.id}" has no uploadUrl, and PDFs of this batch are not kept. Give every item one`;
  throw new PlatenError('PLAN_LIMIT', `${message}${OR_KEEP}`);
}

/** What else can be done about a batch whose PDFs nobody would receive. */
export const OR_KEEP = ', or, if the plan keeps PDFs, let expiresInHours be at least 1.';

/** The ids of the chunks that the inputs of a batch share. */
export function chunkIds(batchId: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${batchId}/${number}`);
}

function periodOf({ mode, quotaWindow }: Caller, now: Date) {
  return mode === 'test' ? null : quotaPeriod(now, quotaWindow);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Approximate bytes of a batch's record without its texts, and of each of its items without its names. */
const RECORD_BYTES = 1024;
const ITEM_BYTES = 128;

/** Bytes kept for months after a batch's outputs; counted to limit callers that submit and cancel repeatedly. */
function recordBytesOf({ items, notes, metadata, webhookUrl }: BatchSubmission): number {
  const words = JSON.stringify([
    notes,
    metadata,
    items.map(({ id, fileName, uploadUrl }) => [id, fileName, uploadUrl]),
  ]);
  // Includes the record of the callback, although that is deleted earlier.
  const callback = webhookUrl === null ? 0 : callbackBytes(webhookUrl);
  return RECORD_BYTES + items.length * ITEM_BYTES + Buffer.byteLength(words) + callback;
}

/** @param inputBytes bytes of each item's input, in the order of the items. */
function chunksOf(
  items: readonly ItemSubmission[],
  inputBytes: readonly number[],
  size: number,
): BatchItem[][] {
  const chunks: BatchItem[][] = [];
  for (let start = 0; start < items.length; start += size) {
    chunks.push(
      items.slice(start, start + size).map(({ id, fileName, source, options, uploadUrl }, i) => ({
        id,
        fileName,
        inputMode: source.mode,
        ...optionFacts(options),
        ...(uploadUrl !== undefined && { uploadUrl }),
        inputBytes: inputBytes[start + i]!,
      })),
    );
  }
  return chunks;
}
