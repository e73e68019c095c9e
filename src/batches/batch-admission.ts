import type { Caller } from '../accounts/caller.ts';
import type { Clock } from '../clock.ts';
import { quotaOf, refuseIfSlow, tookTooLong } from '../jobs/admission.ts';
import { type BeyondQuota, withMore } from '../jobs/beyond-quota.ts';
import { callbackBytes, type JobSource } from '../jobs/job.ts';
import { BATCH_LANE } from '../jobs/lanes.ts';
import type { Ledger } from '../jobs/ledger/ledger.ts';
import type { QuotaLimit } from '../jobs/ledger/ledger-filter.ts';
import { DEFAULT_FORMAT, newInput } from '../jobs/new-job.ts';
import { refusalOf } from '../jobs/refusal.ts';
import type { RenderOptions } from '../jobs/render-options.ts';
import type { JobStore } from '../jobs/store/job-store.ts';
import { shareParts } from '../jobs/store/shared-parts.ts';
import type { AdmissionTimer } from '../limits/admission-timer.ts';
import { quotaPeriod } from '../usage/quota-period.ts';
import { type Batch, type BatchItem, chunkSizeOf, itemJobId } from './batch.ts';
import type { BatchStore } from './batch-store.ts';
import { EXPANDER_MS } from './expansion.ts';

/** One document of a batch, whose form has been checked and whose template has been found. */
export interface ItemOrder {
  /** The caller's own id of it. */
  readonly id: string;
  /** Already made safe. */
  readonly fileName: string;
  readonly source: JobSource;
  readonly options: RenderOptions;
}

export interface BatchOrder {
  readonly batchId: string;
  readonly items: readonly ItemOrder[];
  readonly notes: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly webhookUrl: string | null;
  readonly retentionHours: number;
}

export interface BatchAdmissionParts {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly batches: BatchStore;
  readonly beyondQuota: BeyondQuota;
  readonly clock: Clock;
}

const HOUR_MS = 3_600_000;
/** What an item is thought to take before any has been seen: seconds in a slot. */
const GUESSED_ITEM_S = 1;

/**
 * Lets batches in, all of their items or none. What that takes does not depend on what rendering them takes:
 *
 *    1 take      places and quota for all items      one update of the account's ledger
 *    2 write     the chunks of items, then their inputs, then the batch: from then on it is durable
 *
 * Then the caller is answered, and the jobs are written (expansion.ts). What a crash leaves:
 *
 *    after 1     places that nobody comes to: given back with their quota by jobs/sweeps/named-jobs.ts, which has
 *                `forgetUnless` delete what there is of the items and their inputs
 *    after 2     a batch whose jobs are not written: expanded by a sweep (batch-care.ts)
 */
export class BatchAdmission {
  readonly #parts: BatchAdmissionParts;

  constructor(parts: BatchAdmissionParts) {
    this.#parts = parts;
  }

  /**
   * Lets a batch in. When it resolves the batch is durable, and is to be expanded.
   *
   * @throws PlatenError QUOTA_EXCEEDED, TEST_QUOTA_EXCEEDED, OVERAGE_PENDING, STORAGE_FULL, TOO_MANY_WAITING or INPUT_TOO_LARGE: nothing is
   * left behind then.
   */
  async admit(caller: Caller, order: BatchOrder, timer: AdmissionTimer): Promise<Batch> {
    const { batches, store, ledger, clock } = this.#parts;
    const now = clock.now();
    const { batchId, items } = order;
    const inputs = items.map(({ id, source, options }, position) => {
      const jobId = itemJobId({ _id: batchId, orderedIds: true }, position, id);
      return newInput({ jobId, source, options }, caller, now);
    });
    const shared = shareParts(batchId, inputs);
    const inputBytes = shared.inputs.map(({ content }) => content.length());
    const sharedBytes = sum(shared.parts.map(({ content }) => content.length()));
    const recordBytes = recordBytesOf(order);
    const bytes = sum(inputBytes) + sharedBytes + recordBytes;
    const { beyondQuota } = this.#parts;
    const ofJob = { test: caller.mode === 'test', quotaPeriod: periodOf(caller, now) };
    const plain = quotaOf(ofJob, caller.plan, now);
    const standAside = () => timer.standAside();
    const need = { accountId: caller.accountId, count: items.length, plain, standAside };
    const { taken, began } = await timer.time('reserve', () =>
      withMore(beyondQuota, need, (quota) => this.#take(caller, order, bytes, quota, now)),
    );
    const { first, expectedSeconds } = taken;
    const chunkSize = chunkSizeOf(items.length);
    await batches.saveChunks(batchId, chunksOf(items, inputBytes, chunkSize));
    await store.inputs.save(shared.inputs, shared.parts);
    refuseIfSlow(began);
    const batch: Batch = {
      _id: batchId,
      orderedIds: true,
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
      firstPlace: first,
      sharedParts: shared.parts.length,
      sharedBytes,
      recordBytes,
      notes: order.notes,
      metadata: order.metadata,
      webhookUrl: order.webhookUrl,
      createdAt: now,
      updatedAt: now,
      cancelledAt: null,
      finishedAt: null,
      retentionHours: order.retentionHours,
      expiresAt: new Date(now.getTime() + order.retentionHours * HOUR_MS),
      expectedSeconds,
    };
    await batches.accept(batch);
    const record = await timer.time('confirm', () => ledger.find(caller.accountId));
    if (record?.arriving?.[batchId] === undefined) {
      // A sweep has taken this process for dead, and what it had taken is given back.
      await batches.withdraw(batchId);
      throw tookTooLong();
    }
    return batch;
  }

  /** Gives back at once what an earlier try of the same request has taken, for a batch that it never wrote. */
  async abandon(accountId: string, batchId: string): Promise<void> {
    const { ledger } = this.#parts;
    const arrival = (await ledger.find(accountId))?.arriving?.[batchId];
    if (arrival?.batchOf === undefined || (await this.forgetUnless(batchId, arrival.batchOf))) return;
    const { batchOf, quota, since, bytes } = arrival;
    await ledger.undoArrival(accountId, batchId, batchOf, quota, since, bytes);
  }

  /**
   * Asked by the sweep that finds places taken and nobody at them.
   *
   * @returns true when the batch is durable; when it is not, what was written for it is deleted.
   */
  async forgetUnless(batchId: string, items: number): Promise<boolean> {
    const { batches, store } = this.#parts;
    if ((await batches.find(batchId)) !== undefined) return true;
    const size = chunkSizeOf(items);
    const chunks = Math.ceil(items / size);
    for (let number = 0; number < chunks; number += 1) {
      const written = await batches.chunk(batchId, number);
      // By a process of this version, or of an older one.
      for (const batch of [{ _id: batchId, orderedIds: true } as const, { _id: batchId }]) {
        await store.inputs.delete(written.map(({ id }, i) => itemJobId(batch, number * size + i, id)));
      }
    }
    // At most two for each item: its markup and its options.
    await store.inputs.deleteParts(partIds(batchId, 2 * items));
    await batches.deleteChunks(batchId, chunks);
    return false;
  }

  async #take(
    caller: Caller,
    { batchId, items }: BatchOrder,
    bytes: number,
    quota: QuotaLimit | undefined,
    now: Date,
  ): Promise<{ first: number; expectedSeconds: number }> {
    const { ledger } = this.#parts;
    const { accountId, plan } = caller;
    const stored = { bytes, max: plan.maxStoredBytes };
    const arrival = { id: batchId, jobs: [], batchOf: items.length, lane: BATCH_LANE };
    const limits = { maxWaiting: plan.maxWaitingJobs, quota, stored };
    const first = await ledger.takePlaces(accountId, arrival, limits);
    const record = await ledger.find(accountId);
    if (first === undefined) throw refusalOf(record, items.length, caller, limits, now);
    const before = (record?.waiting ?? 0) + (record?.inFlight ?? 0);
    return { first, expectedSeconds: Math.ceil((before * GUESSED_ITEM_S) / plan.concurrentRenders) };
  }
}

/** The ids of what the inputs of a batch share. */
export function partIds(batchId: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${batchId}/${number}`);
}

function periodOf({ mode, quotaWindow }: Caller, now: Date) {
  return mode === 'test' ? null : quotaPeriod(now, quotaWindow);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** What the record of a batch takes whatever it says, and each of its items beside their names: bytes, nearly. */
const RECORD_BYTES = 1024;
const ITEM_BYTES = 128;

/** What is kept of a batch for months after its outputs: who orders and cancels again and again comes to an end by it. */
function recordBytesOf({ items, notes, metadata, webhookUrl }: BatchOrder): number {
  const words = JSON.stringify([notes, metadata, items.map(({ id, fileName }) => [id, fileName])]);
  // That of its callback is forgotten before it.
  const callback = webhookUrl === null ? 0 : callbackBytes(webhookUrl);
  return RECORD_BYTES + items.length * ITEM_BYTES + Buffer.byteLength(words) + callback;
}

/** @param inputBytes of the inputs of the items, in the same order. */
function chunksOf(items: readonly ItemOrder[], inputBytes: readonly number[], size: number): BatchItem[][] {
  const chunks: BatchItem[][] = [];
  for (let start = 0; start < items.length; start += size) {
    chunks.push(
      items.slice(start, start + size).map(({ id, fileName, source, options }, i) => ({
        id,
        fileName,
        inputMode: source.mode,
        format: options.format ?? DEFAULT_FORMAT,
        inputBytes: inputBytes[start + i]!,
      })),
    );
  }
  return chunks;
}
