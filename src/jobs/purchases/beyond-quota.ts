import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { PlatenError } from '../../errors/registry.ts';
import type { QuotaLimit } from '../ledger/ledger-filter.ts';
import type { LedgerRecord } from '../ledger/ledger-record.ts';
import { limitWith } from './bought-units.ts';
import type { Purchases } from './purchases.ts';

/** How long a request waits for a purchase to be decided, in milliseconds; after that it is asked to retry. */
const WAIT_MS = 10_000;
const POLL_MS = 200;
const RETRY_S = 5;
/** Others may change what decides about a purchase while it is decided; it is read anew this often. */
const TRIES = 50;

/**
 * What there is when a period's own quota is used up: blocks that were bought, and a purchase that is made now. Jobs that
 * come while one is under way wait for it; the quota does not refuse them until it is decided.
 */
export class BeyondQuota {
  readonly #purchases: Purchases;
  readonly #clock: Clock;
  readonly #waitMs: number;

  constructor(purchases: Purchases, clock: Clock, waitMs = WAIT_MS) {
    this.#purchases = purchases;
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /**
   * @param quota the plan's own.
   * @param began when the request began to ask, by `performance.now()`.
   * @param releasePermit called before it waits: a purchase may take long, and others are not to wait for it.
   * @returns the quota with what was bought, if that suffices; undefined when nothing can be done.
   * @throws PlatenError OVERAGE_PENDING when a purchase is still not decided.
   */
  async more(
    accountId: string,
    quota: QuotaLimit,
    count: number,
    began: number,
    releasePermit: () => void = () => undefined,
  ): Promise<QuotaLimit | undefined> {
    const { period, limit } = quota;
    for (let lost = 0; ; ) {
      const record = await this.#purchases.counted(accountId, period, limit);
      if (record === undefined) return undefined;
      const extended = limitWith(record, period, limit, this.#clock.now());
      if ((record.quota?.[period] ?? 0) + count <= extended) {
        const { bought } = record;
        return { period, limit: extended, ...(bought && { boughtVersion: bought.version }) };
      }
      const { overage } = record;
      if (overage?.gate === undefined) {
        const need = { period, limit: extended, count };
        if (!mayBuy(record, need)) return undefined;
        if (!(await this.#purchases.reserve(record, randomUUID(), need))) {
          lost += 1;
          if (lost > TRIES) throw new Error(`What ${accountId} may buy changes all the time.`);
          // Something is not as it was seen any more: it is decided anew, and no request waits for what is not bought.
          continue;
        }
      }
      if (performance.now() - began > this.#waitMs) {
        throw new PlatenError('OVERAGE_PENDING', undefined, { retryAfterSeconds: RETRY_S });
      }
      releasePermit();
      await sleep(POLL_MS);
    }
  }
}

/** Whether the owner has allowed what is needed, and one block is enough for it. */
function mayBuy(
  { overage, quota }: LedgerRecord,
  need: { readonly period: QuotaLimit['period']; readonly limit: number; readonly count: number },
): boolean {
  if (overage?.enabled !== true || !overage.allowed) return false;
  if (overage.spentCents > overage.capCents - overage.priceCents) return false;
  const used = quota?.[need.period] ?? 0;
  return used + need.count <= need.limit + overage.units;
}

/**
 * Runs `take`, and where the quota refuses it, again with what was bought besides.
 *
 * @param plain the plan's own quota; undefined where none is taken.
 * @returns what was taken, and when the try that took it began, by `performance.now()`.
 * @throws what `take` does, and OVERAGE_PENDING as `more` does.
 */
export async function withMore<T>(
  beyond: BeyondQuota,
  need: {
    readonly accountId: string;
    readonly count: number;
    readonly plain: QuotaLimit | undefined;
    readonly releasePermit: () => void;
  },
  take: (quota: QuotaLimit | undefined) => Promise<T>,
): Promise<{ taken: T; began: number }> {
  const { accountId, count, plain, releasePermit } = need;
  const first = performance.now();
  let quota = plain;
  for (;;) {
    const began = performance.now();
    try {
      return { taken: await take(quota), began };
    } catch (error) {
      const usedUp = error instanceof PlatenError && error.code === 'QUOTA_EXCEEDED';
      if (!usedUp || plain === undefined) throw error;
      quota = await beyond.more(accountId, plain, count, first, releasePermit);
      if (quota === undefined) throw error;
    }
  }
}
