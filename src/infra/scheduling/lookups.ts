import { type AccountFilter, FairQueue } from './fair-queue.ts';

export interface LookupBounds {
  /** Lookups that run concurrently, not counting slow ones. */
  readonly concurrent: number;
  /** Lookups of one account that run concurrently, including slow ones. */
  readonly concurrentOfAccount: number;
  /** Lookups of one account that may wait. */
  readonly maxWaitingOfAccount: number;
  /** A lookup that takes longer, in milliseconds, lets another one run in addition. Default: none does. */
  readonly slowMs?: number;
}

const TOO_MANY = 'EBUSY';
/** Each lookup is charged the same, however long its name servers take, so that accounts are served in rotation. */
const COST_MS = 1000;

/** Whether a lookup was rejected because too many lookups of its account wait. */
export function isTooMany(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === TOO_MANY;
}

/** Lookups of host names. An account whose hosts have slow name servers does not delay other accounts. */
export class LookupQueue extends FairQueue {
  readonly #bounds: LookupBounds;
  #slow = 0;

  constructor(bounds: LookupBounds) {
    const maxWaiting = { perAccount: bounds.maxWaitingOfAccount, error: tooMany };
    super({ usage: { costMs: COST_MS }, maxWaiting });
    this.#bounds = bounds;
  }

  protected override get capacity(): number {
    return this.#bounds.concurrent + this.#slow;
  }

  protected override eligible(): readonly AccountFilter[] {
    return [(account) => this.heldBy(account) < this.#bounds.concurrentOfAccount];
  }

  /** @throws the rejection of `lookup`; Error `EBUSY` when too many of the account wait; the signal's reason. */
  async run<T>(account: string, lookup: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const permit = await this.acquire({ account }, signal);
    const { slowMs } = this.#bounds;
    let slow = 0;
    const becomeSlow = () => {
      slow = 1;
      this.#slow += 1;
      this.grant();
    };
    const timer = slowMs === undefined ? undefined : setTimeout(becomeSlow, slowMs).unref();
    try {
      return await lookup();
    } finally {
      clearTimeout(timer);
      this.#slow -= slow;
      permit.release();
    }
  }
}

function tooMany(): Error {
  return Object.assign(new Error('Too many names are being looked up.'), { code: TOO_MANY });
}
