import { PlatenError } from '../../infra/errors/registry.ts';
import type { PendingAdmission } from '../../infra/overload/pending-admission.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import type { Job } from '../jobs/job.ts';
import { withinPlan } from '../jobs/new-job.ts';
import type { Jobs } from '../jobs/open-jobs.ts';
import {
  type Batch,
  chunkCount,
  hasFinished,
  isItemOf,
  isVoid,
  itemJobId,
  MAX_LISTED_ITEMS,
  pendingOf,
  tallied,
} from './batch.ts';
import type { BatchAdmission, BatchSubmission, ItemSubmission } from './batch-admission.ts';
import type { BatchCore } from './batch-core.ts';
import { type Item, itemOf } from './batch-item.ts';
import type { BatchReconciler } from './batch-reconciler.ts';
import type { BatchListQuery } from './batch-store.ts';
import { ItemPositions } from './item-positions.ts';
import { admitSource, type SourceSubmission } from './source/source-admission.ts';
import type { SourceFiles } from './source/source-files.ts';
import type { SourcedBatches } from './source/sourced-batches.ts';

interface ServiceCore extends BatchCore, Pick<Jobs, 'stored'> {
  readonly admission: BatchAdmission;
  readonly reconciler: BatchReconciler;
  readonly sourced: SourcedBatches;
  readonly files: SourceFiles;
}

/** A test key sees the batches of test keys, a live key those of live keys, the account itself all. */
export type BatchOwner = Pick<Caller, 'accountId'> & Partial<Pick<Caller, 'mode'>>;

/** A batch and how many of its items hold a plan slot at the moment. */
export interface BatchView {
  readonly batch: Batch;
  readonly inFlight: number;
}

/** Accepts, reads and cancels batches for the API. */
export class BatchService {
  readonly #deps: ServiceCore;
  readonly #positions: ItemPositions;

  constructor(deps: ServiceCore) {
    this.#deps = deps;
    this.#positions = new ItemPositions(deps.batches);
  }

  /** Durable when it resolves; no item has been rendered. @throws PlatenError as `BatchAdmission.admit` does. */
  async submit(caller: Caller, submission: BatchSubmission, admission: PendingAdmission): Promise<Batch> {
    const batch = await this.#deps.admission.admit(caller, submission, admission);
    admission.timer.admitted();
    this.#deps.reconciler.begin(batch);
    return batch;
  }

  /** Durable when it resolves; nothing of its file has been read. @throws PlatenError as `admitSource` does. */
  async submitSource(
    caller: Caller,
    submission: SourceSubmission,
    { timer, trace }: PendingAdmission,
  ): Promise<Batch> {
    const batch = await admitSource(this.#deps, caller, submission, trace);
    timer.admitted();
    return batch;
  }

  /** @returns the batch of a first request that died; undefined when it was never accepted: submit it. */
  async resume(accountId: string, batchId: string): Promise<Batch | undefined> {
    const batch = await this.#deps.batches.find(batchId);
    if (batch === undefined) await this.#deps.admission.abandon(accountId, batchId);
    return batch;
  }

  /** @throws PlatenError NOT_FOUND for a batch that is missing, deleted or another account's. */
  async get({ accountId, mode }: BatchOwner, batchId: string): Promise<Batch> {
    const batch = await this.#deps.batches.find(batchId);
    if (batch?.accountId !== accountId) throw missing(batchId);
    if (mode !== undefined && batch.test !== (mode === 'test')) throw missing(batchId);
    return batch;
  }

  /** A batch with its items in slots. Costs the same for ten items and for ten thousand. @throws as `get` does. */
  async view(owner: BatchOwner, batchId: string): Promise<BatchView> {
    const batch = await this.get(owner, batchId);
    return { batch, inFlight: hasFinished(batch) ? 0 : await this.#inFlight(batch) };
  }

  /** One page of an account's batches, and the total number of matching batches. */
  async list(
    { accountId, mode }: BatchOwner,
    query: Omit<BatchListQuery, 'accountId' | 'test'>,
  ): Promise<{ total: number; views: BatchView[] }> {
    const { batches } = this.#deps;
    const wanted = { accountId, ...(mode !== undefined && { test: mode === 'test' }), ...query };
    // Read before the batches: if an item ends in between, its batch has `startedAt`.
    const before =
      query.status === 'queued' || query.status === 'processing'
        ? await this.#inFlightByBatch(accountId)
        : undefined;
    const { total, batches: found } = await batches.list(wanted, [...(before?.keys() ?? [])]);
    const open = found.some((batch) => !hasFinished(batch));
    const inFlight = before ?? (open ? await this.#inFlightByBatch(accountId) : undefined);
    const views = found.map((batch) => ({
      batch,
      inFlight: hasFinished(batch) ? 0 : (inFlight?.get(batch._id) ?? 0),
    }));
    return { total, views };
  }

  /** Whether the outputs of a batch can no longer be fetched. */
  accessExpired(batch: Batch): boolean {
    return hasFinished(batch) && batch.expiresAt <= this.#deps.clock.now();
  }

  /**
   * Changes how the source of a batch is read: pauses it, continues it, or releases it after its proof. Items that are
   * there already are rendered.
   *
   * @throws PlatenError NOT_FOUND; WRONG_STATE.
   */
  async direct(owner: BatchOwner, batchId: string, order: 'pause' | 'goOn' | 'release'): Promise<Batch> {
    const seen = await this.get(owner, batchId);
    const changed = await this.#deps.sourced[order](batchId);
    if (changed === undefined) throw new PlatenError('WRONG_STATE', refusal(seen, order), { jobId: batchId });
    await this.#deps.batches.readings.poke(batchId);
    return changed;
  }

  /** Running jobs continue to their end. @throws PlatenError NOT_FOUND; JOB_ENDED when it has finished already. */
  async cancel(owner: BatchOwner, batchId: string): Promise<Batch> {
    const seen = await this.get(owner, batchId);
    const cancelled = await this.#deps.batches.cancel(batchId);
    if (cancelled === undefined) {
      const what = hasFinished(seen) ? 'has ended' : 'is being cancelled';
      throw new PlatenError('JOB_ENDED', `The batch ${what} already.`, { jobId: batchId });
    }
    if (cancelled.phase === 'open') this.#deps.reconciler.begin(cancelled);
    return cancelled;
  }

  /** Some items of a batch, in the order of the batch. */
  async items(batch: Batch, { offset, limit }: { offset: number; limit: number }): Promise<Item[]> {
    const end = Math.min(batch.total, offset + limit);
    const found: Item[] = [];
    for (let start = offset; start < end; ) {
      const chunk = Math.floor(start / batch.chunkSize);
      const stop = Math.min(end, (chunk + 1) * batch.chunkSize);
      found.push(...(await this.#itemsOf(batch, chunk, start, stop)));
      start = stop;
    }
    return found;
  }

  /**
   * The submission that repeats the failed items of an ended batch, under the account's present plan.
   *
   * @param batchId the id of the new batch.
   * @throws PlatenError NOT_RETRYABLE when the batch has not ended, or no item has failed; GONE when the input of a
   * failed item is no longer kept; BATCH_TOO_LARGE.
   */
  async retryOf(
    batch: Batch,
    { plan, ownerFence }: Pick<Caller, 'plan' | 'ownerFence'>,
    batchId: string,
  ): Promise<BatchSubmission> {
    const about = { jobId: batch._id };
    if (!hasFinished(batch)) throw new PlatenError('NOT_RETRYABLE', 'The batch has not ended.', about);
    const failed = tallied(batch, 'failed');
    if (failed === 0) throw new PlatenError('NOT_RETRYABLE', 'No item of the batch has failed.', about);
    const most = Math.min(plan.maxBatchItems, MAX_LISTED_ITEMS);
    if (failed > most) {
      const message = `${failed} items have failed; ${most} can be retried at once.`;
      throw new PlatenError('BATCH_TOO_LARGE', message, about);
    }
    return {
      batchId,
      items: await this.#failedItems(batch, plan),
      notes: batch.notes,
      metadata: batch.metadata,
      // An earlier owner of the account may have named its address.
      webhookUrl: plan.features.callbacks && batch.ownerFence === ownerFence ? batch.webhookUrl : null,
      retentionHours: batch.keepsNothing ? 0 : Math.min(batch.retentionHours, plan.retentionHours),
    };
  }

  /** The failed items of a batch as submissions, in the order of the batch. @throws PlatenError GONE */
  async #failedItems(batch: Batch, plan: Plan): Promise<ItemSubmission[]> {
    const submissions: ItemSubmission[] = [];
    for (let chunk = 0; chunk < chunkCount(batch); chunk += 1) {
      if (!isVoid(batch) && (batch.tallies?.[chunk]?.failed ?? 0) === 0) continue;
      const first = chunk * batch.chunkSize;
      const items = await this.items(batch, { offset: first, limit: batch.chunkSize });
      for (const [i, { item, status }] of items.entries()) {
        // A row that could not become a job would fail again.
        if (status !== 'failed' || item.fault !== undefined) continue;
        const input = await this.#deps.store.inputs.load(itemJobId(batch, first + i, item.id));
        if (input === undefined) {
          const message = `The input of item ${JSON.stringify(item.id)} is no longer kept.`;
          throw new PlatenError('GONE', message, { jobId: batch._id });
        }
        const { source, options } = input;
        submissions.push({
          id: item.id,
          fileName: item.fileName,
          source,
          options: withinPlan(options, plan),
        });
      }
    }
    if (submissions.length === 0)
      throw new PlatenError('GONE', 'The items of the batch are no longer kept.', { jobId: batch._id });
    return submissions;
  }

  /** @throws PlatenError GONE unless the PDFs of the batch are still kept. */
  requireKept(batch: Batch): void {
    if (batch.keepsNothing || this.accessExpired(batch)) throw goneError(batch);
  }

  /** @throws PlatenError GONE after the retention of the batch; NOT_FOUND unless the item is completed. */
  async completedItem(batch: Batch, itemId: string): Promise<Job> {
    this.requireKept(batch);
    const { live, history } = this.#deps.store;
    const position = await this.#positions.of(batch, itemId);
    if (position === undefined) {
      throw new PlatenError('NOT_FOUND', 'The batch has no item of this id.', { jobId: batch._id });
    }
    const jobId = itemJobId(batch, position, itemId);
    const job = (await live.find(jobId)) ?? (await history.find(jobId));
    if (job?.item?.batchId !== batch._id || job.output === null) {
      const why = job === undefined ? 'has not begun this item' : 'has no PDF of this item';
      throw new PlatenError('NOT_FOUND', `The batch ${why}.`, { jobId: batch._id });
    }
    return job;
  }

  async #itemsOf(batch: Batch, chunk: number, start: number, stop: number): Promise<Item[]> {
    const { batches, store } = this.#deps;
    const first = chunk * batch.chunkSize;
    const items = (await batches.chunk(batch._id, chunk)).slice(start - first, stop - first);
    const ids = items.map(({ id }, i) => itemJobId(batch, start + i, id));
    const expired = this.accessExpired(batch);
    // A job may move between the two reads, but only from live to history.
    const jobs = expired ? new Map<string, Job>() : await store.live.among(ids);
    const missing = expired ? [] : ids.filter((id) => !jobs.has(id));
    for (const job of missing.length > 0 ? await store.history.some(missing) : []) jobs.set(job._id, job);
    const ends = ids.every((id) => jobs.has(id)) ? {} : await batches.ends(batch._id, chunk);
    return items.map((item, i) => itemOf(batch, item, jobs.get(ids[i]!), ends[start + i]));
  }

  async #inFlight(batch: Batch): Promise<number> {
    if (pendingOf(batch) === 0) return 0;
    return (await this.#holders(batch.accountId)).filter((jobId) => isItemOf(batch, jobId)).length;
  }

  /** The number of items in plan slots, for each batch of an account that has any. */
  async #inFlightByBatch(accountId: string): Promise<Map<string, number>> {
    return this.#deps.store.live.countByBatch(await this.#holders(accountId));
  }

  /** Ids of the jobs that hold the account's plan slots. */
  async #holders(accountId: string): Promise<string[]> {
    return Object.keys((await this.#deps.ledger.find(accountId))?.holders ?? {});
  }
}

function refusal({ source, phase }: Batch, order: 'pause' | 'goOn' | 'release'): string {
  if (source === undefined) return 'The batch has no source: its items have all been accepted.';
  if (phase !== 'reading') return 'The source of the batch is not being read any more.';
  if (order === 'pause')
    return source.pausedAt ? 'The batch is paused already.' : 'The batch is being cancelled.';
  if (order === 'goOn') return 'The batch is not paused.';
  return source.proof === undefined ? 'The batch has no proof.' : 'The batch is released already.';
}

function missing(batchId: string): PlatenError {
  return new PlatenError('NOT_FOUND', `There is no batch ${batchId}.`);
}

/** The error for outputs whose retention has ended. */
export function goneError(batch: Batch): PlatenError {
  const why = batch.keepsNothing
    ? 'The outputs of this batch are not kept: each was put to its uploadUrl.'
    : `The outputs of this batch were kept until ${batch.expiresAt.toISOString()}.`;
  return new PlatenError('GONE', why, { jobId: batch._id });
}
