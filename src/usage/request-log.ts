import { randomUUID } from 'node:crypto';
import { type Connection, type Model, type QueryFilter, Schema } from 'mongoose';
import type { Logger } from '../telemetry/logger.ts';
import { LONGEST_PERIOD_MS } from './periods.ts';
import { WriteBehind } from './write-behind.ts';

export interface RequestLogEntry {
  readonly _id: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly apiKeyPrefix: string;
  /** Path pattern of the route. */
  readonly endpoint: string;
  readonly ipAddress: string;
  readonly status: 'success' | 'error';
  /** The error's code. */
  readonly errorReason: string | null;
  readonly createdAt: Date;
}

export interface RequestLogQuery {
  readonly accountId: string;
  readonly since: Date;
  readonly apiKeyId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

const DUPLICATE_KEY = 11000;
/** The requests of an account, one entry each; written a little behind, only ever appended to. */
export class RequestLog {
  readonly #model: Model<RequestLogEntry>;
  readonly #entries: WriteBehind<RequestLogEntry>;

  constructor(connection: Connection, logger: Logger) {
    const schema = new Schema(
      {
        _id: String,
        accountId: String,
        apiKeyId: String,
        apiKeyPrefix: String,
        endpoint: String,
        ipAddress: String,
        status: String,
        errorReason: String,
        createdAt: Date,
      },
      { versionKey: false, autoIndex: false, autoCreate: false, collection: 'request_logs' },
    );
    schema.index({ accountId: 1, createdAt: -1, _id: -1 });
    schema.index({ accountId: 1, apiKeyId: 1, createdAt: -1, _id: -1 });
    schema.index({ createdAt: 1 });
    this.#model = connection.model<RequestLogEntry>(
      'RequestLog',
      schema as unknown as Schema<RequestLogEntry>,
    );
    this.#entries = new WriteBehind(async (batch) => {
      try {
        await this.#model.collection.insertMany(batch as never[], { ordered: false });
      } catch (error) {
        // A batch that was written in part before is written again: what is there already is no fault.
        if ((error as { code?: number }).code !== DUPLICATE_KEY) throw error;
      }
    }, logger);
  }

  /** Written within a second; never fails. */
  record(entry: Omit<RequestLogEntry, '_id'>): void {
    this.#entries.add({ _id: randomUUID(), ...entry });
  }

  flush(): Promise<void> {
    return this.#entries.flush();
  }

  async page(query: RequestLogQuery): Promise<RequestLogEntry[]> {
    const filter: QueryFilter<RequestLogEntry> = {
      accountId: query.accountId,
      createdAt: { $gte: query.since },
    };
    if (query.apiKeyId !== undefined) filter.apiKeyId = query.apiKeyId;
    const direction = query.newestFirst ? -1 : 1;
    return (await this.#model
      .find(filter)
      // By id as well: entries of the same millisecond must not change places between two pages.
      .sort({ createdAt: direction, _id: direction })
      .skip(query.offset)
      .limit(query.limit)
      .lean()) as RequestLogEntry[];
  }

  /** Deletes what is older than any period that can be asked for. @returns how many entries went. */
  async deleteOld(now: Date): Promise<number> {
    const before = new Date(now.getTime() - LONGEST_PERIOD_MS);
    return (await this.#model.deleteMany({ createdAt: { $lt: before } })).deletedCount;
  }
}
