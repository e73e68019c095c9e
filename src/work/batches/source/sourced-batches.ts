import type { Connection } from 'mongoose';
import type { Clock } from '../../../infra/clock.ts';
import { Collection } from '../../../infra/store/collection.ts';
import { type Batch, type BatchItem, chunkSizeOf, type SourceProblem } from '../batch.ts';
import { BATCHES, CHUNKS, type StoredChunk } from '../batch-collections.ts';

/** The changes of batches that only those with a source know. Each is one update, and can be repeated. */
export class SourcedBatches {
  readonly #batches: Collection<Batch>;
  readonly #chunks: Collection<StoredChunk>;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    this.#batches = new Collection<Batch>(connection, BATCHES);
    this.#chunks = new Collection<StoredChunk>(connection, CHUNKS);
    this.#clock = clock;
  }

  /** @returns false when a batch with this id exists. */
  accept(batch: Batch): Promise<boolean> {
    return this.#batches.insertIfAbsent(batch);
  }

  /** Records how many rows there are. */
  async counted(_id: string, rows: number): Promise<Batch | undefined> {
    const set = { total: rows, chunkSize: chunkSizeOf(rows), 'source.rows': rows };
    return this.#batches.findOneAndUpdate({ _id, phase: 'reading' }, { $set: set });
  }

  /** Adds items to a chunk that has `from` of them. Items that were added before stay. */
  async addItems(batchId: string, chunk: number, from: number, items: readonly BatchItem[]): Promise<void> {
    const _id = `${batchId}/${chunk}`;
    if (from === 0) {
      if (await this.#chunks.insertIfAbsent({ _id, items })) return;
    }
    const found = (await this.#chunks.findById(_id))?.items ?? [];
    // A process that died in this step may have added some of them.
    if (found.length >= from + items.length) return;
    const all = [...found.slice(0, from), ...items];
    await this.#chunks.updateOne({ _id, items: { $size: found.length } }, { $set: { items: all } });
  }

  /** Records how many rows have become items. @param recordBytes of the batch with their names. */
  progressed(_id: string, read: number, recordBytes: number): Promise<Batch | undefined> {
    return this.#batches.findOneAndUpdate(
      { _id },
      {
        $max: { 'source.read': read, recordBytes, updatedAt: this.#clock.now() },
        $unset: { 'source.waitsFor': '' },
      },
    );
  }

  /** Records why no row is read at the moment. */
  async waits(_id: string, waitsFor: SourceProblem): Promise<void> {
    await this.#batches.updateOne({ _id, phase: 'reading' }, { $set: { 'source.waitsFor': waitsFor } });
  }

  /** Records that all rows are items. @returns the updated batch; undefined when it was cancelled meanwhile. */
  readWhole(_id: string): Promise<Batch | undefined> {
    return this.#batches.findOneAndUpdate(
      { _id, phase: 'reading', cancelledAt: null },
      { $set: { phase: 'open' } },
    );
  }

  /**
   * Records that no further row is read.
   *
   * @param error undefined when the owner has cancelled it.
   * @param cancels whether the items that wait are cancelled as well: the reconciler does so.
   * @returns the updated batch; undefined when it was not being read any more.
   */
  cut(
    _id: string,
    read: number,
    error: SourceProblem | undefined,
    cancels: boolean,
  ): Promise<Batch | undefined> {
    const now = this.#clock.now();
    return this.#batches.findOneAndUpdate(
      { _id, phase: 'reading' },
      {
        $set: {
          phase: 'open',
          total: read,
          'source.read': read,
          updatedAt: now,
          ...(error && { 'source.error': error }),
          ...(error && cancels && { cancelledAt: now }),
          ...(cancels && { busy: true as const, busyUntil: now }),
        },
        $unset: { 'source.waitsFor': '' },
      },
    );
  }

  /** @returns the updated batch; undefined when it is not in a state for that. */
  pause(_id: string): Promise<Batch | undefined> {
    const pausedAt = this.#clock.now();
    return this.#batches.findOneAndUpdate(
      { _id, phase: 'reading', cancelledAt: null, 'source.pausedAt': { $exists: false } },
      { $set: { 'source.pausedAt': pausedAt } },
    );
  }

  /** @returns as `pause`. */
  goOn(_id: string): Promise<Batch | undefined> {
    return this.#batches.findOneAndUpdate(
      { _id, phase: 'reading', cancelledAt: null, 'source.pausedAt': { $exists: true } },
      { $unset: { 'source.pausedAt': '' } },
    );
  }

  /** @returns as `pause`. */
  release(_id: string): Promise<Batch | undefined> {
    const releasedAt = this.#clock.now();
    return this.#batches.findOneAndUpdate(
      {
        ...{ _id, phase: 'reading', cancelledAt: null },
        'source.proof': { $exists: true },
        'source.releasedAt': { $exists: false },
      },
      { $set: { 'source.releasedAt': releasedAt } },
    );
  }
}
