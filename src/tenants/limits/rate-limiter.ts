import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { LOSABLE } from '../../infra/store/collection.ts';
import { type CountedWindows, WindowCounter } from '../../infra/store/fixed-window.ts';
import type { Plan } from '../plans/plan.ts';

/**
 * Requests that are counted separately: with an API key, requests for work (`requests`) and requests that read records,
 * files and lists (`reads`); with an access token, all requests (`account`).
 */
export type RateKind = 'requests' | 'reads' | 'account';

interface RateVerdict {
  readonly allowed: boolean;
  /** Requests left in this window. */
  readonly remaining: number;
  /** Milliseconds until the next window, at least 1. */
  readonly resetMs: number;
}

export const RATE_WINDOW_MS = 60_000;
/**
 * A read of a job costs little, and each accepted job is polled several times before its PDF is fetched. If a read
 * counted as much as a request for work, polling one job would use up a small plan's minute.
 */
const READS_PER_REQUEST = 10;

/**
 * Ten requests a second on every plan, because every account manages its keys and templates in the dashboard. A page
 * that polls five lists every five seconds makes 60 requests a minute, so ten such pages may be open at a time; a
 * script that sends requests without a pause reaches the bound within seconds. An account on a plan with a higher rate
 * may use scripts and manage itself at the rate at which it may request PDFs.
 */
const LEAST_ACCOUNT_REQUESTS = 600;
/**
 * Downloads of one file a minute by signed addresses from one network: enough for a reader who opens a document
 * repeatedly in several programs, and for many people behind one address.
 */
export const LINKED_PER_WINDOW = 30;
/** Exhausted windows that a process keeps in memory. */
const REMEMBERED = 10_000;
/** One account's requests of one kind, by `<account>:<kind>`; downloads, by `<job>:<network>:linked`. */
const REQUESTS: CountedWindows = {
  spec: { name: 'rate_windows', account: 'prefix', indexes: [{ fields: { endsAt: 1 } }] },
  fields: { count: 'count', end: 'endsAt' },
  lengthMs: RATE_WINDOW_MS,
  // A counter may lose its last updates with the server; waiting for the disk would cost more than they are worth.
  writeConcern: LOSABLE,
};

/**
 * Counts requests in fixed windows of a minute, over all processes: each request is one update of one record by its
 * exact id. The windows of different accounts begin at different seconds of the minute, so that rejected callers do not
 * all come back at the same time.
 */
export class RateLimiter extends WindowCounter {
  /** Counts that have reached their limit, by window. A count only grows, so an exhausted window stays exhausted. */
  readonly #exhausted = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(connection: Connection, clock: Clock) {
    super(connection, clock, REQUESTS);
  }

  /** Counts one request. @param limit requests that the account may make in a window. */
  take(accountId: string, kind: RateKind, limit: number): Promise<RateVerdict> {
    return this.#count(`${accountId}:${kind}`, shiftOf(accountId), limit);
  }

  /** Counts one download by a signed address, of LINKED_PER_WINDOW in a window. */
  takeLinked(jobId: string, network: string): Promise<RateVerdict> {
    return this.#count(`${jobId}:${network}:linked`, shiftOf(jobId), LINKED_PER_WINDOW);
  }

  async #count(key: string, shiftMs: number, limit: number): Promise<RateVerdict> {
    const window = this.window(key, shiftMs);
    const verdict = (count: number): RateVerdict => ({
      allowed: count <= limit,
      remaining: Math.max(0, limit - count),
      resetMs: window.leftMs,
    });
    const seen = this.#exhausted.get(window.id);
    // Further requests in an exhausted window cost the database nothing.
    if (seen !== undefined && seen >= limit) return verdict(seen + 1);
    const count = await this.add(window, 1);
    if (count >= limit) this.#exhausted.set(window.id, count);
    return verdict(count);
  }
}

/** Requests a minute of each kind that a plan allows an account. */
export function allowances(plan: Plan): Readonly<Record<RateKind, number>> {
  return {
    requests: plan.requestsPerMinute,
    reads: plan.requestsPerMinute * READS_PER_REQUEST,
    account: Math.max(LEAST_ACCOUNT_REQUESTS, plan.requestsPerMinute),
  };
}

/** Where in the minute the windows of an account or a file begin, in milliseconds. */
function shiftOf(id: string): number {
  return createHash('sha1').update(id).digest().readUInt16BE(0) % RATE_WINDOW_MS;
}
