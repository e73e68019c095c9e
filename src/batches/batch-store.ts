import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import { DUE_INDEX, type Due, DueQueue } from '../store/due-queue.ts';
import {
  type Batch,
  type BatchItem,
  type BatchPhase,
  type BatchStatus,
  chunkCount,
  hasFinished,
  pendingOf,
} from './batch.ts';
import { type ItemEnd, tallyFields, tallyOf } from './chunk-tally.ts';
import { dueMark } from './pace.ts';
import { shownAs } from './shown-as.ts';

/** What the caller submitted of the items of one chunk, in order. */
interface StoredChunk {
  /** `<batch>/<number of the chunk>` */
  readonly _id: string;
  readonly items: readonly BatchItem[];
}

/** How the items of one chunk have ended, by their index: written again for an item it changes nothing. */
interface StoredTally {
  /** `<batch>/<number of the chunk>` */
  readonly _id: string;
  readonly ended: Readonly<Record<string, ItemEnd>>;
}

export interface BatchListQuery {
  readonly accountId: string;
  /** Batches of test keys, or of live keys; both when absent. */
  readonly test?: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
  /** Batches that are shown with this status; all when absent. */
  readonly status?: BatchStatus;
}

const HOUR_MS = 3_600_000;
/** Batches that a report reads at a time. */
const PAGE = 500;
/** How long what became of a batch is known after its outputs are gone. */
const REMEMBERED_MS = 90 * 24 * HOUR_MS;

const BATCHES: CollectionSpec = {
  name: 'batches',
  indexes: [
    // Unique, as the id in it is: the embedded database reads parts of such indexes alone (docs/decisions/0178).
    { fields: { accountId: 1, createdAt: 1, _id: 1 }, unique: true },
    { fields: { accountId: 1, test: 1, createdAt: 1, _id: 1 }, unique: true },
  ],
  replaced: [{ accountId: 1, createdAt: -1 }, { busy: 1 }, { purgeAt: 1 }, { forgetAt: 1 }],
  filtersBy: {
    fields: ['phase', 'cancelledAt', 'startedAt', '_id', '$or'],
    reason: 'the index leads to the batches of one account',
  },
};
const CHUNKS: CollectionSpec = { name: 'batch_chunks' };
const TALLIES: CollectionSpec = { name: 'batch_tallies' };
/** When a sweep is to make sure that a batch is reconciled: while it expands, or is being cancelled. */
const RECONCILED = listOfDue('batch_care');
/** When the outputs of a batch are to be deleted, and then what is known of it. */
const ENDINGS = listOfDue('batch_endings');

/** Lists batches by their ids. Whether it is really the time of one is for its record to say. */
function listOfDue(name: string): CollectionSpec {
  // The second leads to what processes of the version before have written: see src/layout/migrate-to-3.ts.
  return { name, indexes: [DUE_INDEX, { fields: { due: 1 } }] };
}

/** Batches that a sweep reads together. */
const AT_ONCE = 100;
/** Between the entry for a batch in the queue of the reconciler and the note in its record lie moments; this is ample. */
const NOTED_BEFORE_MS = 30_000;

/**
 * Owns the collections of batches. What an item is like and how it ended is kept in chunks, so that no record grows with
 * the batch; the record of the batch has one sum for each chunk.
 */
export class BatchStore {
  readonly #batches: Collection<Batch>;
  readonly #chunks: Collection<StoredChunk>;
  readonly #tallies: Collection<StoredTally>;
  readonly #reconciler: DueQueue<Due>;
  readonly #endings: DueQueue<Due>;
  readonly #clock: Clock;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection, clock: Clock) {
    this.#batches = new Collection<Batch>(connection, BATCHES);
    this.#chunks = new Collection<StoredChunk>(connection, CHUNKS);
    this.#tallies = new Collection<StoredTally>(connection, TALLIES);
    this.#reconciler = new DueQueue(new Collection<Due>(connection, RECONCILED), clock);
    this.#endings = new DueQueue(new Collection<Due>(connection, ENDINGS), clock);
    this.#clock = clock;
  }

  /** Makes a batch durable. Its chunks must have been saved before. @returns false when there is one with this id. */
  async accept(batch: Batch): Promise<boolean> {
    await this.#reconciler.schedule(batch._id, batch.busyUntil);
    return this.#batches.insertIfAbsent(batch);
  }

  find(batchId: string): Promise<Batch | undefined> {
    return this.#batches.findById(batchId);
  }

  /** Saved before the batch; those that an earlier try of the same request has saved stay. */
  async saveChunks(batchId: string, chunks: readonly (readonly BatchItem[])[]): Promise<void> {
    await this.#chunks.insertAbsent(chunks.map((items, number) => ({ _id: `${batchId}/${number}`, items })));
  }

  /** The items of a chunk in order; none when it was never saved. */
  async chunk(batchId: string, number: number): Promise<readonly BatchItem[]> {
    return (await this.#chunks.findById(`${batchId}/${number}`))?.items ?? [];
  }

  /** How the items of a chunk have ended, by their index in the batch. */
  async ends(batchId: string, chunk: number): Promise<Readonly<Record<string, ItemEnd>>> {
    return (await this.#tallies.findById(`${batchId}/${chunk}`))?.ended ?? {};
  }

  /**
   * A page of an account's batches, and how many there are in all.
   *
   * @param inFlight ids of those that have items in plan slots; asked for `queued` and `processing`.
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

  /** An account's batches since then, the oldest first; a page of them is in memory at a time. */
  async *since(accountId: string, since: Date): AsyncGenerator<Batch> {
    let from = since;
    // Of those that were made at the very moment at which the next page begins.
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
    return this.#batches.find({ accountId, phase: { $in: ['expanding', 'open'] } });
  }

  /** Batches that expand or are being cancelled, and whose lease has ended. */
  async neglected(now: Date): Promise<Batch[]> {
    const neglected: Batch[] = [];
    for (const { entry, batch } of await this.#listed(this.#reconciler)) {
      if (batch?.busy === undefined) await this.#reconciler.remove(entry);
      else if (batch.busyUntil > now) await this.#reconciler.postpone(entry, batch.busyUntil);
      else neglected.push(batch);
    }
    return neglected;
  }

  /**
   * Takes or renews the lease by which one process at a time reconciles a batch, for `ms` milliseconds.
   *
   * @returns the batch as it is then; undefined when another process has it, or nothing is left to do.
   */
  take(seen: Pick<Batch, '_id' | 'busyUntil'>, ms: number): Promise<Batch | undefined> {
    const busyUntil = new Date(this.#clock.now().getTime() + ms);
    return this.#batches.findOneAndUpdate(
      { _id: seen._id, busy: true, busyUntil: seen.busyUntil },
      { $set: { busyUntil } },
    );
  }

  /** Notes how many chunks have their jobs written. */
  async expanded(batchId: string, chunks: number): Promise<void> {
    await this.#batches.updateOne({ _id: batchId }, { $max: { expanded: chunks } });
  }

  /** All of its jobs are written, and at their positions. @returns the batch as it is then. */
  async opened(batchId: string): Promise<Batch | undefined> {
    await this.#batches.updateOne({ _id: batchId, phase: 'expanding' }, { $set: { phase: 'open' } });
    // One that is being cancelled meanwhile is still to be reconciled.
    await this.#batches.updateOne({ _id: batchId, cancelledAt: null }, { $unset: { busy: '' } });
    return this.find(batchId);
  }

  /**
   * It is to be cancelled. The process that expands it goes on with that first: were it taken over, the same jobs might
   * be written by one while another already ends them.
   *
   * @returns the batch as it is then; undefined when it has finished or been cancelled before.
   */
  async cancel(batchId: string): Promise<Batch | undefined> {
    const now = this.#clock.now();
    await this.#reconciler.schedule(batchId, new Date(now.getTime() + NOTED_BEFORE_MS));
    const set = { cancelledAt: now, updatedAt: now };
    const wanted = { _id: batchId, cancelledAt: null };
    const cancelled =
      (await this.#batches.findOneAndUpdate({ ...wanted, phase: 'expanding' }, { $set: set })) ??
      // It does not become one that expands again.
      (await this.#batches.findOneAndUpdate(
        { ...wanted, phase: 'open' },
        { $set: { ...set, busy: true, busyUntil: now } },
      ));
    await this.#reconciler.schedule(batchId, now);
    return cancelled;
  }

  /** It need not be reconciled any more. */
  async rest(batchId: string): Promise<void> {
    await this.#batches.updateOne({ _id: batchId }, { $unset: { busy: '' } });
  }

  /** It cannot be run: its jobs were never all written. @returns the batch as it is then; open when they are after all. */
  fail(batch: Batch): Promise<Batch> {
    return this.#finish(batch, 'failed', ['expanding']);
  }

  /**
   * Counts how some items have ended. Counted again they change nothing, and the last to be counted finishes the batch.
   *
   * @param ends by the index of the item.
   * @param startedAt when the first of them began, if any did.
   * @returns the batch as it is then; undefined when there is none.
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
    // Each number only grows, so the larger one is the later one, in whatever order they are written.
    const batch = await this.#batches.findOneAndUpdate(
      { _id: batchId },
      {
        $max: { ...tallyFields(chunk, tallyOf(ended)), updatedAt: now },
        ...(startedAt && { $min: { startedAt } }),
      },
    );
    if (batch === undefined || hasFinished(batch)) return batch;
    if (pendingOf(batch) === 0) {
      return this.#finish(batch, batch.cancelledAt === null ? 'completed' : 'cancelled');
    }
    await this.#markPace(batch, now);
    return batch;
  }

  /** What became of its callback. */
  async noteCallback(batchId: string, callback: 'delivered' | 'failed'): Promise<void> {
    await this.#batches.updateOne({ _id: batchId }, { $set: { callback } });
  }

  /**
   * Some batches whose time has come: their outputs are to be deleted, or all that is known of them.
   *
   * @returns undefined when there are none, now.
   */
  async due(now: Date): Promise<{ toPurge: Batch[]; toForget: Batch[] } | undefined> {
    const listed = await this.#listed(this.#endings);
    const toPurge: Batch[] = [];
    const toForget: Batch[] = [];
    for (const { entry, batch } of listed) {
      if (batch === undefined) {
        await this.#endings.remove(entry);
        continue;
      }
      // One that has neither was to finish when its process died: it is noted anew when it does.
      const due = batch.purgeAt ?? batch.forgetAt ?? new Date(now.getTime() + HOUR_MS);
      if (due > now) await this.#endings.postpone(entry, due);
      else if (batch.purgeAt !== undefined) toPurge.push(batch);
      else toForget.push(batch);
    }
    return listed.length === 0 ? undefined : { toPurge, toForget };
  }

  /** The outputs of the batch are gone. */
  async purged({ _id, forgetAt }: Batch): Promise<void> {
    await this.#batches.updateOne({ _id }, { $unset: { purgeAt: '', sharedBytes: '' } });
    if (forgetAt !== undefined) await this.#endings.schedule(_id, forgetAt);
  }

  /** Bytes of what the inputs of an account's batches have in common, and of what is known of these. */
  async keptBytes(accountId: string): Promise<number> {
    const group = { _id: null, shared: { $sum: '$sharedBytes' }, records: { $sum: '$recordBytes' } };
    const [sum] = await this.#batches.aggregate<{ shared: number; records: number }>({ accountId }, [
      { $group: group },
    ]);
    return sum === undefined ? 0 : sum.shared + sum.records;
  }

  /** Deletes what is known of a batch that ended long ago. @returns false when another process has. */
  async forget(batch: Batch): Promise<boolean> {
    await this.deleteChunks(batch._id, chunkCount(batch));
    return this.#batches.deleteOne({ _id: batch._id });
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

  /** Notes how far a batch is, where that is due: some sixteen times for each batch. */
  async #markPace(batch: Batch, at: Date): Promise<void> {
    const mark = dueMark(batch);
    if (mark === undefined) return;
    // Of two processes that count at the same moment, one.
    const unmarked = { _id: batch._id, [mark]: { $exists: false } };
    const made = { [mark]: { ended: batch.total - pendingOf(batch), at } };
    await this.#batches.updateOne(unmarked, { $set: made });
  }

  /** @param from the phases that it can be in. */
  async #finish(
    batch: Batch,
    phase: 'completed' | 'cancelled' | 'failed',
    from: readonly BatchPhase[] = ['expanding', 'open'],
  ): Promise<Batch> {
    const now = this.#clock.now();
    const hours = batch.retentionHours * HOUR_MS;
    // An item waits for as long as it is kept at the most, so the outputs of all are there for as long as this says.
    const expiresAt = new Date(Math.min(now.getTime() + hours, batch.createdAt.getTime() + 2 * hours));
    await this.#endings.schedule(batch._id, expiresAt);
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
        // The end of one that has failed is still to be reported: no job of it will end.
        ...(phase !== 'failed' && { $unset: { busy: '' } }),
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
