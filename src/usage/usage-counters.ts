import { type Connection, type Model, Schema } from 'mongoose';
import { ERRORS, type ErrorCode } from '../errors/registry.ts';
import type { Logger } from '../telemetry/logger.ts';
import { dayOf, type Period, periodDays } from './periods.ts';
import { WriteBehind } from './write-behind.ts';

/** The outcome of one request for a render: what became of its job, or why it was refused. */
export interface UsageEvent {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly at: Date;
  /** Undefined for a success. */
  readonly errorCode: ErrorCode | undefined;
}

/** One account's requests of one day, through one key. */
export interface UsageBucket {
  /** `<account>:<day>:<key>` */
  readonly _id: string;
  readonly accountId: string;
  readonly day: string;
  readonly apiKeyId: string;
  readonly total: number;
  readonly failed: number;
  readonly errors: Readonly<Record<string, number>>;
}

export interface UsageTotals {
  readonly totalRequests: number;
  readonly successCount: number;
  readonly failedCount: number;
  readonly errorsByCategory: Record<string, number>;
  readonly keyBreakdown: { apiKeyId: string; totalRequests: number; failedCount: number }[];
}

/** What kind of failure a code counts as in the usage summary. */
export function errorCategory(code: ErrorCode): string {
  if (code === 'RENDER_TIMEOUT' || code === 'SELECTOR_TIMEOUT') return 'timeout';
  if (code === 'QUOTA_EXCEEDED' || code === 'PLAN_LIMIT') return 'quota';
  if (code === 'CANCELLED') return 'cancelled';
  const { status } = ERRORS[code];
  if (status === 429 || status === 503) return 'capacity';
  return RENDER_CODES.has(code) || status >= 500 ? 'render' : 'validation';
}

const RENDER_CODES: ReadonlySet<ErrorCode> = new Set([
  'URL_BLOCKED',
  'URL_UNREACHABLE',
  'TEMPLATE_ERROR',
  'OUTPUT_TOO_LARGE',
  'EXPIRED',
]);

/** Counts requests up as they end, in buckets of a day, account and key; totals are read from the buckets. */
export class UsageCounters {
  readonly #model: Model<UsageBucket>;
  readonly #events: WriteBehind<UsageEvent>;

  constructor(connection: Connection, logger: Logger) {
    const schema = new Schema(
      {
        _id: String,
        accountId: String,
        day: String,
        apiKeyId: String,
        total: Number,
        failed: Number,
        errors: Schema.Types.Mixed,
      },
      {
        versionKey: false,
        minimize: false,
        autoIndex: false,
        autoCreate: false,
        suppressReservedKeysWarning: true,
        collection: 'usage_buckets',
      },
    );
    schema.index({ accountId: 1, day: 1 });
    this.#model = connection.model<UsageBucket>('UsageBucket', schema as unknown as Schema<UsageBucket>);
    this.#events = new WriteBehind((batch) => this.#count(batch), logger);
  }

  /** Counted within a second; never fails. */
  record(event: UsageEvent): void {
    this.#events.add(event);
  }

  flush(): Promise<void> {
    return this.#events.flush();
  }

  async totals(accountId: string, period: Period, now: Date): Promise<UsageTotals> {
    const days = periodDays(period, now);
    const buckets = (await this.#model
      .find({ accountId, day: { $gte: days[0]!, $lte: days.at(-1)! } })
      .lean()) as UsageBucket[];
    const errorsByCategory: Record<string, number> = {};
    const keys = new Map<string, { apiKeyId: string; totalRequests: number; failedCount: number }>();
    for (const bucket of buckets) {
      for (const [category, count] of Object.entries(bucket.errors ?? {})) {
        errorsByCategory[category] = (errorsByCategory[category] ?? 0) + count;
      }
      const key = keys.get(bucket.apiKeyId) ?? {
        apiKeyId: bucket.apiKeyId,
        totalRequests: 0,
        failedCount: 0,
      };
      key.totalRequests += bucket.total;
      key.failedCount += bucket.failed;
      keys.set(bucket.apiKeyId, key);
    }
    const keyBreakdown = [...keys.values()].sort((a, b) => b.totalRequests - a.totalRequests);
    const totalRequests = keyBreakdown.reduce((sum, key) => sum + key.totalRequests, 0);
    const failedCount = keyBreakdown.reduce((sum, key) => sum + key.failedCount, 0);
    return {
      totalRequests,
      failedCount,
      successCount: totalRequests - failedCount,
      errorsByCategory,
      keyBreakdown,
    };
  }

  async #count(batch: readonly UsageEvent[]): Promise<void> {
    const increments = new Map<string, { event: UsageEvent; inc: Record<string, number> }>();
    for (const event of batch) {
      const id = `${event.accountId}:${dayOf(event.at)}:${event.apiKeyId}`;
      const entry = increments.get(id) ?? { event, inc: { total: 0, failed: 0 } };
      entry.inc.total! += 1;
      if (event.errorCode !== undefined) {
        entry.inc.failed! += 1;
        const field = `errors.${errorCategory(event.errorCode)}`;
        entry.inc[field] = (entry.inc[field] ?? 0) + 1;
      }
      increments.set(id, entry);
    }
    await this.#model.collection.bulkWrite(
      [...increments].map(([id, { event, inc }]) => ({
        updateOne: {
          filter: { _id: id as never },
          update: {
            $inc: inc as never,
            $setOnInsert: { accountId: event.accountId, day: dayOf(event.at), apiKeyId: event.apiKeyId },
          },
          upsert: true,
        },
      })),
    );
  }
}
