import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../infra/clock.ts';
import { PlatenError } from '../../../infra/errors/registry.ts';
import { limitWith } from '../ledger/block-balance.ts';
import type { QuotaLimit } from '../ledger/ledger-filter.ts';
import type { LedgerRecord } from '../ledger/ledger-record.ts';
import type { BlockLedger } from './block-ledger.ts';

/** How long a request waits for the decision of a purchase, in milliseconds; then the caller is asked to retry. */
const WAIT_MS = 10_000;
const POLL_MS = 200;
const RETRY_S = 5;
/** How often a decision is repeated when other processes have changed its basis meanwhile. */
const TRIES = 50;

/**
 * Extends a used-up quota: by blocks that were bought, or by a purchase. Jobs that are submitted during a purchase wait
 * for its decision before the quota rejects them.
 */
export class QuotaExtension {
  readonly #blockLedger: BlockLedger;
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #onUsedUp: (accountId: string) => void;

  /** @param onUsedUp called for every submission for which the quota cannot be extended enough. */
  constructor(
    blockLedger: BlockLedger,
    clock: Clock,
    waitMs = WAIT_MS,
    onUsedUp: (accountId: string) => void = () => undefined,
  ) {
    this.#blockLedger = blockLedger;
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#onUsedUp = onUsedUp;
  }

  /**
   * @param quota the plan's own quota.
   * @param began the start of the request's wait, by `performance.now()`.
   * @param releasePermit called before a wait: a purchase may take long, and other requests must not wait for it.
   * @returns the quota with everything bought, if that suffices; undefined when the quota cannot be extended enough.
   * @throws PlatenError OVERAGE_PENDING when a purchase is still not decided.
   */
  async more(
    accountId: string,
    quota: QuotaLimit,
    count: number,
    began: number,
    releasePermit: () => void = () => undefined,
  ): Promise<QuotaLimit | undefined> {
    const extended = await this.#more(accountId, quota, count, began, releasePermit);
    if (extended === undefined) this.#onUsedUp(accountId);
    return extended;
  }

  async #more(
    accountId: string,
    quota: QuotaLimit,
    count: number,
    began: number,
    releasePermit: () => void,
  ): Promise<QuotaLimit | undefined> {
    const { period, limit } = quota;
    for (let lost = 0; ; ) {
      const record = await this.#blockLedger.counted(accountId, period, limit);
      if (record === undefined) return undefined;
      const extended = limitWith(record, period, limit, this.#clock.now());
      if ((record.quota?.[period] ?? 0) + count <= extended) {
        const { blockBalance } = record;
        return { period, limit: extended, ...(blockBalance && { balanceVersion: blockBalance.version }) };
      }
      const { overage } = record;
      if (overage?.purchase === undefined) {
        const need = { period, limit: extended, count };
        if (!mayBuy(record, need)) return undefined;
        if (!(await this.#blockLedger.reserve(record, randomUUID(), need))) {
          lost += 1;
          if (lost > TRIES) throw new Error(`What ${accountId} may buy changes all the time.`);
          // The basis has changed: decide again, because no request may wait for a purchase that was not made.
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

/** Whether the owner's settings allow the purchase, and one block is enough. */
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
 * Runs `take`; if the quota rejects that, runs it again with everything bought in addition.
 *
 * @param plain the plan's own quota; undefined when none is used.
 * @returns the result of `take`, and the start of the successful attempt by `performance.now()`.
 * @throws the errors of `take`, and OVERAGE_PENDING as `more` does.
 */
export async function withExtension<T>(
  extension: QuotaExtension,
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
      quota = await extension.more(accountId, plain, count, first, releasePermit);
      if (quota === undefined) throw error;
    }
  }
}
