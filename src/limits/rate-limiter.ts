import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import type { Plan } from '../plans/plan.ts';
import { type CountedWindows, WindowCounter } from './fixed-window.ts';

/**
 * What is counted by itself: with an API key requests for work, and requests that look at work (records, files, lists);
 * with an access token all requests.
 */
export type RateKind = 'requests' | 'reads' | 'account';

export interface RateVerdict {
  readonly allowed: boolean;
  /** Requests left in this window. */
  readonly remaining: number;
  /** Milliseconds until the next window, at least 1. */
  readonly resetMs: number;
}

export const RATE_WINDOW_MS = 60_000;
/**
 * Looking at a job costs little, and every job that was accepted is looked at several times before it is fetched. If
 * that counted as much as asking for work, following one job would use up a small plan's minute.
 */
const READS_PER_REQUEST = 10;

/**
 * Ten requests a second, on every plan: people look after their keys and templates in a dashboard whatever they pay. A
 * page that asks for five lists every five seconds makes sixty a minute, so ten such pages may be open at a time; a script
 * that asks as fast as it is answered meets the bound within seconds. A plan with a higher rate has scripts of its own,
 * and may manage its account as fast as it may ask for PDFs.
 */
const LEAST_ACCOUNT_REQUESTS = 600;
/**
 * Downloads of one file by signed addresses from one network: somebody who looks at a document again and again, in several
 * programs, and many people behind one address.
 */
export const LINKED_PER_WINDOW = 30;
/** Exhausted windows that a process remembers. */
const REMEMBERED = 10_000;
/** One account's requests of one kind, by `<account>:<kind>`; downloads, by `<job>:<network>:linked`. */
const REQUESTS: CountedWindows = {
  spec: { name: 'rate_windows', indexes: [{ fields: { endsAt: 1 } }] },
  fields: { count: 'count', end: 'endsAt' },
  lengthMs: RATE_WINDOW_MS,
  // A counter may lose its last moments with the server; waiting for the disk would cost more than it is worth.
  writeConcern: { w: 1, j: false },
};

/**
 * Counts requests in fixed windows of a minute, one counter for all processes: each request is one update of one
 * document by its exact id. Windows begin at another second of the minute for every account, so that callers that were
 * refused do not all come back together.
 */
export class RateLimiter {
  readonly #counter: WindowCounter;
  /** Counts that used up their window; they only grow, so what was over the limit once stays it. */
  readonly #exhausted = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(connection: Connection, clock: Clock) {
    this.#counter = new WindowCounter(connection, clock, REQUESTS);
  }

  /**
   * Counts one request.
   *
   * @param limit requests a window that the account may make.
   */
  take(accountId: string, kind: RateKind, limit: number): Promise<RateVerdict> {
    return this.#count(`${accountId}:${kind}`, shiftOf(accountId), limit);
  }

  /** Counts one download by a signed address, of LINKED_PER_WINDOW in a window. */
  takeLinked(jobId: string, network: string): Promise<RateVerdict> {
    return this.#count(`${jobId}:${network}:linked`, shiftOf(jobId), LINKED_PER_WINDOW);
  }

  async #count(key: string, shiftMs: number, limit: number): Promise<RateVerdict> {
    const window = this.#counter.window(key, shiftMs);
    const verdict = (count: number): RateVerdict => ({
      allowed: count <= limit,
      remaining: Math.max(0, limit - count),
      resetMs: window.leftMs,
    });
    const seen = this.#exhausted.get(window.id);
    // A caller that hammers on costs the database nothing more.
    if (seen !== undefined && seen >= limit) return verdict(seen + 1);
    const count = await this.#counter.add(window, 1);
    if (count >= limit) this.#exhausted.set(window.id, count);
    return verdict(count);
  }

  /** Forgets windows that have ended. @returns how many. */
  deleteOld(now: Date): Promise<number> {
    return this.#counter.deleteEnded(now);
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
