import type { Connection } from 'mongoose';
import { WriteBehind } from '../../infra/async/write-behind.ts';
import { Collection, type CollectionSpec, LOSABLE } from '../../infra/store/collection.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import {
  accountOf,
  countOf,
  type Hour,
  hoursOf,
  idsBetween,
  type Kind,
  type LogDay,
  newEntryId,
  runsOf,
  uuidOf,
} from './log-layout.ts';
import { dayOf, daysBetween, LONGEST_PERIOD_MS } from './periods.ts';

export interface RequestLogEntry {
  /** A UUID. */
  readonly _id: string;
  readonly apiKeyId: string;
  readonly apiKeyPrefix: string;
  /** Path pattern of the route. */
  readonly endpoint: string;
  readonly ipAddress: string;
  readonly status: 'success' | 'error';
  /** The error's code. */
  readonly errorReason: string | null;
  /** Of HTTP; absent, as the next two, of an entry of an earlier version. */
  readonly method?: string;
  readonly statusCode?: number;
  /** From the request to its response, in milliseconds. */
  readonly durationMs?: number;
  readonly jobId?: string;
  readonly createdAt: Date;
}

export interface RequestLogQuery extends Kind {
  readonly accountId: string;
  /** A whole hour. */
  readonly since: Date;
  readonly now: Date;
  /** Only requests with this key. */
  readonly apiKeyId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

/** How long an entry may wait for others, in milliseconds, and the most entries that are written together. */
const DELAY_MS = 1000;
const WRITTEN_AT_ONCE = 1000;
/** Entries that one query searches for those of a kind. */
const SEARCHED_AT_ONCE = 10_000;
/** Once this many have been searched, a page that has an entry ends, although more may follow. */
const MOST_SEARCHED = 50_000;

const ENTRIES: CollectionSpec = {
  name: 'request_log',
  account: 'prefix',
  indexes: [
    { fields: { apiKeyId: 1, _id: 1 }, unique: 'embedded' },
    { fields: { createdAt: 1, _id: 1 }, unique: 'embedded' },
  ],
  filtersBy: {
    fields: ['status', 'endpoint'],
    reason: 'among the entries of hours that have some of these, SEARCHED_AT_ONCE with a query',
  },
};
const DAYS: CollectionSpec = {
  name: 'request_log_days',
  account: 'prefix',
  indexes: [{ fields: { day: 1, _id: 1 }, unique: 'embedded' }],
};

/**
 * The requests of accounts: an entry for each, written in the background with those of other accounts and never changed,
 * and their numbers by day, key, hour and endpoint; docs/decisions/0022 says why. Losing some is no harm.
 */
export class RequestLog {
  readonly #entries: Collection<RequestLogEntry>;
  readonly #days: Collection<LogDay>;
  readonly #waiting: WriteBehind<RequestLogEntry>;

  constructor(connection: Connection, logger: Logger) {
    this.#entries = new Collection(connection, ENTRIES);
    this.#days = new Collection(connection, DAYS);
    this.#waiting = new WriteBehind((batch) => this.#write(batch), logger, {
      delayMs: DELAY_MS,
      flushAt: WRITTEN_AT_ONCE,
    });
  }

  /** Written a moment later; never fails. @returns the id under which it is stored. */
  record({ accountId, ...entry }: Omit<RequestLogEntry, '_id'> & { readonly accountId: string }): string {
    const _id = newEntryId(accountId, entry.createdAt);
    this.#waiting.add({ _id, ...entry });
    return _id;
  }

  /** An entry of an account. */
  async find(accountId: string, id: string): Promise<RequestLogEntry | undefined> {
    const entry = await this.#entries.findById(`${accountId}:${id}`);
    return entry && { ...entry, _id: id };
  }

  flush(): Promise<void> {
    return this.#waiting.flush();
  }

  /** One page of entries, and the totals of all matching entries. */
  async page(query: RequestLogQuery) {
    const hours = await this.#hours(query);
    const endpoints = new Set(hours.flatMap(({ counts }) => Object.keys(counts)));
    return {
      total: countOf(hours, query),
      successCount: countOf(hours, { status: 'success' }),
      failedCount: countOf(hours, { status: 'error' }),
      endpoints: [...endpoints].sort(),
      entries: await this.#search(hours, query),
    };
  }

  /** Deletes entries that are older than the longest period of a report. @returns the number of deleted entries. */
  async deleteOld(now: Date): Promise<number> {
    const before = new Date(now.getTime() - LONGEST_PERIOD_MS);
    await this.#days.deleteMany({ day: { $lt: dayOf(before) } });
    return this.#entries.deleteMany({ createdAt: { $lt: new Date(dayOf(before)) } });
  }

  async #hours({ accountId, apiKeyId, since, now }: RequestLogQuery): Promise<Hour[]> {
    const ids =
      apiKeyId === undefined
        ? { $gte: `${accountId}:${dayOf(since)}`, $lt: `${accountId};` }
        : { $in: daysBetween(since, now).map((day) => dayId(accountId, day, apiKeyId)) };
    return hoursOf(await this.#days.find({ _id: ids }), since);
  }

  async #search(hours: readonly Hour[], query: RequestLogQuery): Promise<RequestLogEntry[]> {
    const { accountId, apiKeyId, status, endpoint, limit, newestFirst } = query;
    const kind = { ...(status && { status }), ...(endpoint && { endpoint }) };
    const isFiltered = status !== undefined || endpoint !== undefined;
    const { skip, runs } = runsOf(hours, {
      ...query,
      atOnce: isFiltered ? SEARCHED_AT_ONCE : Number.POSITIVE_INFINITY,
    });
    const found: RequestLogEntry[] = [];
    let searched = 0;
    for (const [i, { fromMs, toMs, entries }] of runs.entries()) {
      const _id = idsBetween(accountId, fromMs, toMs);
      const some = await this.#entries.find(
        { ...(apiKeyId && { apiKeyId }), ...kind, _id },
        { sort: { _id: newestFirst ? -1 : 1 }, skip: i === 0 ? skip : 0, limit: limit - found.length },
      );
      found.push(...some);
      searched += entries;
      if (found.length >= limit || (found.length > 0 && searched >= MOST_SEARCHED)) break;
    }
    return found.map((entry) => ({ ...entry, _id: uuidOf(entry._id) }));
  }

  /** Entries first, so that no page is promised what is not there. Only the counts of a repeated write may be too high. */
  async #write(batch: readonly RequestLogEntry[]): Promise<void> {
    await this.#entries.insertAbsent(batch, LOSABLE);
    const days = Map.groupBy(batch, ({ _id, apiKeyId, createdAt }) =>
      dayId(accountOf(_id), dayOf(createdAt), apiKeyId),
    );
    const changes = [...days].map(([id, entries]) => ({ id, update: countsOf(entries) }));
    await this.#days.upsertAll(changes, LOSABLE);
  }
}

/** @param entries of one day. */
function countsOf(entries: readonly RequestLogEntry[]) {
  const $inc: Record<string, number> = {};
  for (const { createdAt, endpoint, status } of entries) {
    for (const field of status === 'error' ? ['total', 'failed'] : ['total']) {
      const path = `hours.${createdAt.getUTCHours()}.${endpoint}.${field}`;
      $inc[path] = ($inc[path] ?? 0) + 1;
    }
  }
  return { $inc, $setOnInsert: { day: dayOf(entries[0]!.createdAt) } };
}

function dayId(accountId: string, day: string, apiKeyId: string): string {
  return `${accountId}:${day}:${apiKeyId}`;
}
