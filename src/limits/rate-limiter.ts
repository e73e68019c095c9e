import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import { FixedWindow } from './fixed-window.ts';

/**
 * What is counted by itself: with an API key requests for work, and requests that look at work (records, files, lists);
 * with an access token all requests.
 */
export type RateKind = 'requests' | 'reads' | 'account';

/** One account's requests of one kind in one window. */
interface RateWindow {
  /** `<account>:<kind>:<number of the window>` */
  readonly _id: string;
  readonly count: number;
  readonly endsAt: Date;
}

export interface RateVerdict {
  readonly allowed: boolean;
  /** Requests left in this window. */
  readonly remaining: number;
  /** Milliseconds until the next window, at least 1. */
  readonly resetMs: number;
}

export const RATE_WINDOW_MS = 60_000;
/** Exhausted windows that a process remembers. */
const REMEMBERED = 10_000;
const WINDOWS: CollectionSpec = { name: 'rate_windows', indexes: [{ fields: { endsAt: 1 } }] };
/** A counter may lose its last moments with the server; waiting for the disk would cost more than it is worth. */
const writeConcern = { w: 1, j: false } as const;

/**
 * Counts requests in fixed windows of a minute, one counter for all processes: each request is one update of one
 * document by its exact id. Windows begin at another second of the minute for every account, so that callers that were
 * refused do not all come back together.
 */
export class RateLimiter {
  readonly #windows: Collection<RateWindow>;
  readonly #window: FixedWindow;
  /** Counts that used up their window; they only grow, so what was over the limit once stays it. */
  readonly #exhausted = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(connection: Connection, clock: Clock) {
    this.#windows = new Collection(connection, WINDOWS);
    this.#window = new FixedWindow(RATE_WINDOW_MS, clock);
  }

  /**
   * Counts one request.
   *
   * @param limit requests a window that the account may make.
   */
  async take(accountId: string, kind: RateKind, limit: number): Promise<RateVerdict> {
    const { id, endsAt, leftMs } = this.#window.of(`${accountId}:${kind}`, shiftOf(accountId));
    const verdict = (count: number): RateVerdict => ({
      allowed: count <= limit,
      remaining: Math.max(0, limit - count),
      resetMs: leftMs,
    });
    const seen = this.#exhausted.get(id);
    // A caller that hammers on costs the database nothing more.
    if (seen !== undefined && seen >= limit) return verdict(seen + 1);
    const count = await this.#count(id, endsAt);
    if (count >= limit) this.#exhausted.set(id, count);
    return verdict(count);
  }

  /** Forgets windows that have ended. @returns how many. */
  deleteOld(now: Date): Promise<number> {
    return this.#windows.deleteMany({ endsAt: { $lte: now } });
  }

  async #count(id: string, endsAt: Date): Promise<number> {
    const change = { $inc: { count: 1 }, $setOnInsert: { endsAt } };
    return (await this.#windows.upsert(id, change, { writeConcern })).count;
  }
}

/** Where in the minute an account's windows begin, in milliseconds. */
function shiftOf(accountId: string): number {
  return createHash('sha1').update(accountId).digest().readUInt16BE(0) % RATE_WINDOW_MS;
}
