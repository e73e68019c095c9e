import type { Connection } from 'mongoose';
import { WriteBehind } from '../async/write-behind.ts';
import type { ErrorCode } from '../errors/registry.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import type { Logger } from '../telemetry/logger.ts';
import { errorCategory } from './error-category.ts';
import { dayOf, LONGEST_PERIOD_MS } from './periods.ts';
import { type Tally, totalUsage, type UsageTotals } from './tallies.ts';

/** The outcome of one request for a render: what became of its job, or why it was refused. */
export interface UsageEvent {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly at: Date;
  /** Undefined for a success. */
  readonly errorCode: ErrorCode | undefined;
}

/** One account's requests of one day (UTC) through one key, and of each of its hours. */
export interface UsageBucket extends Tally {
  /** `<account>:<day>:<key>` */
  readonly _id: string;
  readonly accountId: string;
  readonly day: string;
  /** `0` to `23` → the requests of that hour. */
  readonly hours?: Readonly<Record<string, Omit<Tally, 'apiKeyId'>>>;
}

const BUCKETS: CollectionSpec = {
  name: 'usage_buckets',
  indexes: [{ fields: { accountId: 1, day: 1 } }, { fields: { day: 1 } }],
};

/** Counts requests up as they end, in buckets of a day, account and key; totals are read from the buckets. */
export class UsageCounters {
  readonly #buckets: Collection<UsageBucket>;
  readonly #events: WriteBehind<UsageEvent>;

  constructor(connection: Connection, logger: Logger) {
    this.#buckets = new Collection(connection, BUCKETS);
    this.#events = new WriteBehind((batch) => this.#count(batch), logger);
  }

  /** Counted within a second; never fails. */
  record(event: UsageEvent): void {
    this.#events.add(event);
  }

  flush(): Promise<void> {
    return this.#events.flush();
  }

  /** @param since a whole hour. */
  async usage(accountId: string, since: Date): Promise<UsageTotals> {
    return totalUsage(await this.#tallies(accountId, since));
  }

  /** Deletes what is older than any period that can be asked for. @returns how many buckets went. */
  deleteOld(now: Date): Promise<number> {
    const before = dayOf(new Date(now.getTime() - LONGEST_PERIOD_MS));
    return this.#buckets.deleteMany({ day: { $lt: before } });
  }

  async #tallies(accountId: string, since: Date): Promise<Tally[]> {
    const firstDay = dayOf(since);
    const [first, whole] = await Promise.all([
      this.#buckets.find({ accountId, day: firstDay }),
      this.#buckets.find({ accountId, day: { $gt: firstDay } }, { projection: { hours: 0 } }),
    ]);
    const partial = first.flatMap(({ apiKeyId, hours = {} }) =>
      Object.entries(hours)
        .filter(([hour]) => Number(hour) >= since.getUTCHours())
        .map(([, tally]) => ({ ...tally, apiKeyId })),
    );
    return [...partial, ...whole];
  }

  async #count(batch: readonly UsageEvent[]): Promise<void> {
    const increments = new Map<string, { event: UsageEvent; inc: Record<string, number> }>();
    for (const event of batch) {
      const id = `${event.accountId}:${dayOf(event.at)}:${event.apiKeyId}`;
      const entry = increments.get(id) ?? { event, inc: {} };
      for (const field of fieldsOf(event)) {
        for (const path of [field, `hours.${event.at.getUTCHours()}.${field}`]) {
          entry.inc[path] = (entry.inc[path] ?? 0) + 1;
        }
      }
      increments.set(id, entry);
    }
    await this.#buckets.upsertAll(
      [...increments].map(([id, { event, inc }]) => ({
        id,
        update: {
          $inc: inc,
          $setOnInsert: { accountId: event.accountId, day: dayOf(event.at), apiKeyId: event.apiKeyId },
        },
      })),
    );
  }
}

function fieldsOf({ errorCode }: UsageEvent): string[] {
  return errorCode === undefined ? ['total'] : ['total', 'failed', `errors.${errorCategory(errorCode)}`];
}
