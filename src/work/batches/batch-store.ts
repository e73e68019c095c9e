import type { Connection } from 'mongoose';
import type { Timers } from '../../infra/async/timers.ts';
import type { Clock } from '../../infra/clock.ts';
import { Collection } from '../../infra/store/collection.ts';
import { type Due, DueQueue } from '../../infra/store/due-queue.ts';
import { FutureTimes } from '../../infra/store/future-times.ts';
import {
  type Batch,
  type BatchItem,
  type BatchPhase,
  type BatchStatus,
  chunkCount,
  endOf,
  hasFinished,
  pendingOf,
  RUNNING,
} from './batch.ts';
import { BATCHES, CHUNKS, RECONCILED, RETENTIONS, type StoredChunk, TALLIES } from './batch-collections.ts';
import { type ItemEnd, tallyFields, tallyOf } from './chunk-tally.ts';
import { dueMark } from './pace.ts';
import { Readings } from './readings.ts';
import { shownAs } from './shown-as.ts';

/** How the items of one chunk have ended, by index. Writing an item again changes nothing. */
interface StoredTally {
  /** `<batch>/<number of the chunk>` */
  readonly _id: string;
  readonly ended: Readonly<Record<string, ItemEnd>>;
}

export interface BatchListQuery {
  readonly accountId: string;
  /** Only batches of test keys, or only batches of live keys; all when absent. */
  readonly test?: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
  /** Only batches that are shown with this status; all when absent. */
  readonly status?: BatchStatus;
}

const HOUR_MS = 3_600_000;
/** Batches that a report reads with one query. */
const PAGE = 500;
/** How long the record of a batch is kept after its outputs are deleted, in milliseconds. */
const REMEMBERED_MS = 90 * 24 * HOUR_MS;

/** Entries of a due-queue that are read together. */
const AT_ONCE = 100;
/** Milliseconds: longer than a lease, and than a batch takes from the reconciler's queue to its update. */
const NOTED_BEFORE_MS = 30_000;

/**
 * Owns the collections of batches. Items and their outcomes are kept in chunks, so that no record grows with the batch.
 * The record of the batch has one tally for each chunk.
 */
export class BatchStore {
  readonly #batches: Collection<Batch>;
  readonly #chunks: Collection<StoredChunk>;
  readonly #tallies: Collection<StoredTally>;
  readonly #reconciler: DueQueue<Due>;
  readonly #retentions: DueQueue<Due>;
  readonly #clock: Clock;
  readonly #times: FutureTimes;
  /** Of batches whose items are the rows of a file. */
  readonly readings: Readings;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock, timers?: Timers) {
    this.#batches = new Collection<Batch>(connection, BATCHES);
    this.#chunks = new Collection<StoredChunk>(connection, CHUNKS);
    this.#tallies = new Collection<StoredTally>(connection, TALLIES);
    this.#reconciler = new DueQueue(new Collection<Due>(connection, RECONCILED), clock, {
      longestMs: NOTED_BEFORE_MS,
      timers,
    });
    this.#retentions = new DueQueue(new Collection<Due>(connection, RETENTIONS), clock);
    this.#clock = clock;
    this.readings = new Readings(connection, clock);
    this.#times = new FutureTimes(clock, { timers, logger: this.#batches.logger });
  }

  /** Makes a batch durable. Its chunks must have been saved before. @returns false when a batch with this id exists. */
  async accept(batch: Batch): Promise<boolean> {
    await this.#reconciler.schedule(batch._id, batch.busyUntil);
    return this.#batches.insertIfAbsent(batch);
  }

  find(batchId: string): Promise<Batch | undefined> {
    return this.#batches.findById(batchId);
  }

  /** To be called before `accept`. Chunks that an earlier attempt of the same request has saved stay unchanged. */
  async saveChunks(batchId: string, chunks: readonly (readonly BatchItem[])[]): Promise<void> {
    await this.#chunks.insertAbsent(chunks.map((items, number) => ({ _id: `${batchId}/${number}`, items })));
  }

  /** The items of a chunk in order; empty when the chunk was never saved. */
  async chunk(batchId: string, number: number): Promise<readonly BatchItem[]> {
    return (await this.#chunks.findById(`${batchId}/${number}`))?.items ?? [];
  }

  /** How the items of a chunk have ended, by their index in the batch. */
  async ends(batchId: string, chunk: number): Promise<Readonly<Record<string, ItemEnd>>> {
    return (await this.#tallies.findById(`${batchId}/${chunk}`))?.ended ?? {};
  }

  /**
   * One page of an account's batches, and the total number of matching batches.
   *
   * @param inFlight ids of batches that have items in plan slots; needed for the statuses `queued` and `processing`.
   */
  async list(
    query: BatchListQuery,
    inFlight: readonly string[] = [],
  ): Promise<{ total: number; batches: Batch[] }> {
    const filter = {
      accountId: query.accountId,
      ...(query.test !== undefined && { test: query.test }),
      ...(query.status && shownAs(query.status, inFlight)),
    };
    const direction = query.newestFirst ? -1 : 1;
    const [total, batches] = await Promise.all([
      this.#batches.count(filter),
      this.#batches.find(filter, {
        sort: { createdAt: direction, _id: direction },
        skip: query.offset,
        limit: query.limit,
      }),
    ]);
    return { total, batches };
  }

  /** An account's batches created at or after `since`, the oldest first; one page of them is in memory at a time. */
  async *since(accountId: string, since: Date): AsyncGenerator<Batch> {
    let from = since;
    // Batches to skip because they were created exactly at `from` and have been returned already.
    let skip = 0;
    for (;;) {
      const page = await this.#batches.find(
        { accountId, createdAt: { $gte: from } },
        { sort: { createdAt: 1 }, skip, limit: PAGE, projection: { notes: 0, metadata: 0 } },
      );
      yield* page;
      const last = page.at(-1)?.createdAt;
      if (last === undefined || page.length < PAGE) return;
      const alike = page.filter(({ createdAt }) => createdAt.getTime() === last.getTime()).length;
      skip = last.getTime() === from.getTime() ? skip + alike : alike;
      from = last;
    }
  }

  /** An account's batches that have not finished. */
  running(accountId: string): Promise<Batch[]> {
    return this.#batches.find({ accountId, phase: { $in: RUNNING } });
  }

  /** Batches that are being expanded or cancelled, and whose lease has ended. */
  async neglected(): Promise<Batch[]> {
    const neglected: Batch[] = [];
    for (const { entry, batch } of await this.#listed(this.#reconciler)) {
      if (batch?.busy === undefined) await this.#reconciler.remove(entry);
      else if (!this.#times.isOver(batch._id, batch.busyUntil, NOTED_BEFORE_MS))
        await this.#reconciler.postpone(entry, batch.busyUntil);
      else neglected.push(batch);
    }
    return neglected;
  }

  /**
   * Takes or renews the lease by which one process at a time reconciles a batch, for `ms` milliseconds.
   *
   * @returns the updated batch; undefined when another process has the lease, or nothing is left to do.
   */
  take(seen: Pick<Batch, '_id' | 'busyUntil'>, ms: number): Promise<Batch | undefined> {
    const busyUntil = new Date(this.#clock.now().getTime() + ms);
    return this.#batches.findOneAndUpdate(
      { _id: seen._id, busy: true, busyUntil: seen.busyUntil },
      { $set: { busyUntil } },
    );
  }

  /** Records the number of chunks whose jobs are written. */
  async expanded(batchId: string, chunks: number): Promise<void> {
    await this.#batches.updateOne({ _id: batchId }, { $max: { expanded: chunks } });
  }

  /** Records that all jobs of the batch are written at their positions. @returns the updated batch. */
  async opened(batchId: string): Promise<Batch | undefined> {
    await this.#batches.updateOne({ _id: batchId, phase: 'expanding' }, { $set: { phase: 'open' } });
    // A batch that was cancelled meanwhile still has to be reconciled.
    await this.#batches.updateOne({ _id: batchId, cancelledAt: null }, { $unset: { busy: '' } });
    return this.find(batchId);
  }

  /**
   * Records that the batch is to be cancelled. A process that is expanding or reading it completes the expansion, or its
   * step, first: if another
   * process took over, one could write jobs while the other is ending them.
   *
   * @returns the updated batch; undefined when it had already finished or been cancelled.
   */
  async cancel(batchId: string): Promise<Batch | undefined> {
    const now = this.#clock.now();
    await this.#reconciler.schedule(batchId, new Date(now.getTime() + NOTED_BEFORE_MS));
    const set = { cancelledAt: now, updatedAt: now };
    const wanted = { _id: batchId, cancelledAt: null };
    const cancelled =
      (await this.#batches.findOneAndUpdate(
        { ...wanted, phase: { $in: ['expanding', 'reading'] } },
        { $set: set },
      )) ??
      // An open batch never becomes one of these.
      (await this.#batches.findOneAndUpdate(
        { ...wanted, phase: 'open' },
        { $set: { ...set, busy: true, busyUntil: now } },
      ));
    await this.#reconciler.schedule(batchId, now);
    if (cancelled?.phase === 'reading') await this.readings.poke(batchId);
    return cancelled;
  }

  /** Cancels the batches of earlier owners. @returns how many were not being cancelled until now. */
  async cancelBefore(accountId: string, ownerFence: number): Promise<number> {
    let cancelled = 0;
    for (const { _id, ownerFence: fence = 0 } of await this.running(accountId))
      if (fence < ownerFence && (await this.cancel(_id)) !== undefined) cancelled += 1;
    return cancelled;
  }

  /** Has a sweep make sure that the items of a batch are cancelled which was cut. */
  async scheduleCancel(batchId: string): Promise<void> {
    await this.#reconciler.schedule(batchId, this.#clock.now());
  }

  /** Records that the batch does not have to be reconciled any more. */
  async rest(batchId: string): Promise<void> {
    await this.#batches.updateOne({ _id: batchId }, { $unset: { busy: '' } });
  }

  /** Finishes a batch that no end of an item finishes. */
  end(batch: Batch): Promise<Batch> {
    return this.#finish(batch, endOf(batch));
  }

  /** Fails a batch whose jobs were not all written. @returns it as it is now: open if they were after all. */
  fail(batch: Batch): Promise<Batch> {
    return this.#finish(batch, 'failed', ['expanding']);
  }

  /**
   * Counts how some items have ended. Counting an item again changes nothing; the last counted item finishes the batch.
   *
   * @param ends by the index of the item.
   * @param startedAt when the first of these items began; undefined when none has begun.
   * @returns the updated batch; undefined when there is none.
   */
  async count(
    batchId: string,
    chunk: number,
    ends: ReadonlyMap<number, ItemEnd>,
    startedAt: Date | undefined,
  ): Promise<Batch | undefined> {
    const set = Object.fromEntries([...ends].map(([index, end]) => [`ended.${index}`, end]));
    const { ended } = await this.#tallies.upsert(`${batchId}/${chunk}`, { $set: set });
    const now = this.#clock.now();
    // Each number only grows, so the larger number is the later one, whatever the order of the writes.
    const batch = await this.#batches.findOneAndUpdate(
      { _id: batchId },
      {
        $max: { ...tallyFields(chunk, tallyOf(ended)), updatedAt: now },
        ...(startedAt && { $min: { startedAt } }),
      },
    );
    if (batch === undefined || hasFinished(batch)) return batch;
    if (pendingOf(batch) === 0) {
      return this.#finish(batch, endOf(batch));
    }
    await this.#markPace(batch, now);
    return batch;
  }

  /** Records the outcome of the callback. */
  async noteCallback(batchId: string, callback: 'delivered' | 'failed'): Promise<void> {
    await this.#batches.updateOne({ _id: batchId }, { $set: { callback } });
  }

  /** Batches whose outputs or records are to be deleted. @returns undefined when none are due now. */
  async due(now: Date): Promise<{ toPurge: Batch[]; toForget: Batch[] } | undefined> {
    const listed = await this.#listed(this.#retentions);
    const toPurge: Batch[] = [];
    const toForget: Batch[] = [];
    for (const { entry, batch } of listed) {
      if (batch === undefined) {
        await this.#retentions.remove(entry);
        continue;
      }
      // A batch with neither time was about to finish when its process died. It is scheduled again when it finishes.
      const due = batch.purgeAt ?? batch.forgetAt ?? new Date(now.getTime() + HOUR_MS);
      if (due > now) await this.#retentions.postpone(entry, due);
      else if (batch.purgeAt !== undefined) toPurge.push(batch);
      else toForget.push(batch);
    }
    return listed.length === 0 ? undefined : { toPurge, toForget };
  }

  async purged({ _id, forgetAt }: Batch): Promise<void> {
    await this.#batches.updateOne({ _id }, { $unset: { purgeAt: '', sharedBytes: '' } });
    if (forgetAt !== undefined) await this.#retentions.schedule(_id, forgetAt);
  }

  /** Bytes of the chunks that an account's inputs share, and of the records of its batches. */
  async keptBytes(accountId: string): Promise<number> {
    const group = { _id: null, shared: { $sum: '$sharedBytes' }, records: { $sum: '$recordBytes' } };
    const [sum] = await this.#batches.aggregate<{ shared: number; records: number }>({ accountId }, [
      { $group: group },
    ]);
    return sum === undefined ? 0 : sum.shared + sum.records;
  }

  /** Deletes the record of a batch that ended long ago. @returns false when another process has deleted it. */
  async forget(batch: Batch): Promise<boolean> {
    await this.deleteChunks(batch._id, chunkCount(batch));
    return this.#batches.deleteOne({ _id: batch._id });
  }

  /** Deletes the record of a batch, and what makes it due. Repeated after a crash, it deletes the rest. */
  async delete(batch: Batch): Promise<void> {
    for (const list of [this.#reconciler, this.#retentions]) {
      const entry = await list.find(batch._id);
      if (entry !== undefined) await list.remove(entry);
    }
    await this.readings.discard(batch._id);
    await this.forget(batch);
  }

  /** Deletes a batch that was never accepted. */
  async withdraw(batchId: string): Promise<void> {
    await this.#batches.deleteOne({ _id: batchId });
  }

  async deleteChunks(batchId: string, count: number): Promise<void> {
    const ids = Array.from({ length: count }, (_, number) => `${batchId}/${number}`);
    await this.#tallies.deleteMany({ _id: { $in: ids } });
    await this.#chunks.deleteMany({ _id: { $in: ids } });
  }

  /** Records the progress of a batch where a mark is due: about sixteen times for each batch. */
  async #markPace(batch: Batch, at: Date): Promise<void> {
    const mark = dueMark(batch);
    if (mark === undefined) return;
    // If two processes count at the same moment, only one of them sets the mark.
    const unmarked = { _id: batch._id, [mark]: { $exists: false } };
    const made = { [mark]: { ended: batch.total - pendingOf(batch), at } };
    await this.#batches.updateOne(unmarked, { $set: made });
  }

  /** @param from the phases in which the batch may be. */
  async #finish(
    batch: Batch,
    phase: 'completed' | 'cancelled' | 'failed',
    from: readonly BatchPhase[] = RUNNING,
  ): Promise<Batch> {
    const now = this.#clock.now();
    const hours = batch.retentionHours * HOUR_MS;
    // No item waits longer than the retention, so all outputs exist until this time.
    const expiresAt = new Date(Math.min(now.getTime() + hours, batch.createdAt.getTime() + 2 * hours));
    await this.#retentions.schedule(batch._id, expiresAt);
    const finished = await this.#batches.findOneAndUpdate(
      { _id: batch._id, finishedAt: null, phase: { $in: [...from] } },
      {
        $set: {
          phase,
          finishedAt: now,
          updatedAt: now,
          expiresAt,
          purgeAt: expiresAt,
          forgetAt: new Date(expiresAt.getTime() + REMEMBERED_MS),
        },
        // A failed batch stays busy: its end has to be reported by the reconciler, because no job of it will end.
        ...((phase !== 'failed' || batch.source) && { $unset: { busy: '' } }),
      },
    );
    return finished ?? (await this.find(batch._id)) ?? batch;
  }

  /** Entries that are due, with their batches. */
  async #listed(list: DueQueue<Due>): Promise<{ entry: Due; batch: Batch | undefined }[]> {
    const entries = await list.due(AT_ONCE);
    if (entries.length === 0) return [];
    const batches = await this.#batches.find({ _id: { $in: entries.map(({ _id }) => _id) } });
    const byId = new Map(batches.map((batch) => [batch._id, batch]));
    return entries.map((entry) => ({ entry, batch: byId.get(entry._id) }));
  }
}
