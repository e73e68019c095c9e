import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { Collection } from '../../infra/store/collection.ts';
import type { CollectionSpec } from '../../infra/store/collection-spec.ts';
import { DUE_INDEX, type Due, DueQueue } from '../../infra/store/due-queue.ts';

export const SOURCE_FORMATS = ['csv', 'ndjson'] as const;
export type SourceFormat = (typeof SOURCE_FORMATS)[number];

/** How the rows of a file are to be read. */
export interface RowFormat {
  readonly format: SourceFormat;
  /** Of a CSV file. */
  readonly delimiter?: string;
  /** The names in the first row of a CSV file. */
  readonly columns?: readonly string[];
}

/** A place between two rows. */
export interface Cursor {
  /** Bytes before it. */
  readonly offset: number;
  /** Rows before it, without the header. */
  readonly row: number;
}

/** What the items of a batch are made of, as its owner has asked for it. */
export interface SourceOrder {
  /** Where the file is fetched from; absent for an upload. */
  readonly url?: string;
  /** The id of the stored file. */
  readonly fileId: string;
  readonly format: SourceFormat;
  /** Default: the likely one. */
  readonly delimiter?: string;
  readonly templateId: string;
  /** The version of the template when the batch was accepted. */
  readonly templateVersionId: string;
  /** Whether the template has a JSON Schema of its data, which is the shared part `SCHEMA_PART`. */
  readonly hasSchema: boolean;
  /** Default: `id`, or else the number of the row. */
  readonly idColumn?: string;
  /** The field of a row that has the data of its document. Default: the row is the data. */
  readonly dataField?: string;
  /** An address with `{batchId}`, `{row}` and `{id}`. */
  readonly uploadUrl?: string;
  /** The column with the address to which a row's PDF is put. */
  readonly uploadUrlColumn?: string;
}

/** The parts that all inputs of such a batch share, by their numbers. */
export const [MARKUP_PART, OPTIONS_PART, SCHEMA_PART] = [0, 1, 2];

/**
 * The reading of the file of one batch, which has the id of the batch. At rest while the batch is paused or waits for
 * its release; due then at its deadline.
 */
export interface Reading extends Due {
  readonly accountId: string;
  readonly createdAt: Date;
  readonly order: SourceOrder;
  /** True until its file has been fetched; absent otherwise. */
  readonly fetches?: true;
  /** True while a process reads; a process that has died leaves it so. */
  readonly held?: true;
  /** How the rows are read; absent before they are counted. */
  readonly format?: RowFormat;
  /** Rows whose id another row has before them, each with that row, counted from 0. */
  readonly repeats?: Readonly<Record<string, number>>;
  /** What has become items; absent before rows are counted. */
  readonly cursor?: Cursor;
  /** The row at which a step has begun to write. If it is the cursor's, some of its jobs may be there. */
  readonly begun?: number;
}

const READINGS: CollectionSpec = {
  name: 'batch_readings',
  account: { step: 'batches' },
  indexes: [
    DUE_INDEX,
    // Unique because it contains the id (docs/decisions/0178).
    { fields: { accountId: 1, _id: 1 }, unique: 'embedded' },
  ],
  filtersBy: { fields: ['accountId', 'fetches'], reason: 'few of those that are due are left out' },
};

/** Milliseconds. */
const BACKOFF = { firstMs: 1000, maxMs: 60_000 };

/** The readings of batches, each by one process at a time. */
export class Readings extends DueQueue<Reading> {
  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    super(new Collection<Reading>(connection, READINGS), clock, { backoff: BACKOFF });
  }

  /** Has a process look at a batch whose owner has decided something. A process that reads it looks by itself. */
  async poke(batchId: string): Promise<void> {
    await this.hasten(batchId, {}, { held: { $exists: false } });
  }

  /** Begins to read. @returns undefined when another process does. */
  begin(seen: Reading): Promise<Reading | undefined> {
    return this.claim(seen, { $set: { held: true } });
  }

  /** Ends a claim until then. @returns false when it had ended before. */
  rest(claimed: Reading, until: Date, failed = false): Promise<boolean> {
    const update = { $unset: { held: '' } } as const;
    return failed
      ? this.retryLater(claimed, update)
      : this.postpone(claimed, until, { ...update, $set: { failures: 0 } });
  }

  /** How many an account has. */
  ofAccount(accountId: string): Promise<number> {
    return this.records.count({ accountId });
  }

  /** Deletes the reading of a batch. */
  async discard(batchId: string): Promise<void> {
    await this.records.deleteOne({ _id: batchId });
  }
}
