import { LRUCache } from 'lru-cache';
import { PlatenError } from '../errors/registry.ts';
import { type AccountFilter, FairQueue, type Permit, type PermitRequest } from './fair-queue.ts';
import { RecentAccounts } from './recent-accounts.ts';

/** Requests of all accounts that are admitted concurrently. More would only delay each other. */
const CONCURRENT = 16;
/** Requests of one account that are admitted concurrently while another account is active. */
const CONCURRENT_OF_ACCOUNT = 2;
/** How long an account is active after a request, in milliseconds. */
const ACTIVE_MS = 5000;
const MAX_WAIT_MS = 30_000;
const RETRY_AFTER_S = 1;
/** Most accounts that are remembered because their last request was for the background. */
const MAX_ACCOUNTS = 10_000;

interface AdmissionOptions {
  /** Milliseconds of a clock that never goes back. Default: the process's own. */
  readonly now?: (() => number) | undefined;
  /** Longest wait for a permit, in milliseconds. Default 30,000. */
  readonly maxWaitMs?: number;
  /**
   * Least time between two permits of an account that sends requests for the background, while callers of another
   * account wait for PDFs; in milliseconds. Default 0, for processes that do not render on the same cores.
   */
  readonly gapMs?: number;
}

/**
 * The queue of requests for work that are parsed, checked and written concurrently. Each step of a request waits for
 * the event loop and the database: without the queue, a burst of requests of one account would delay every step of all
 * others.
 */
export class AdmissionQueue extends FairQueue {
  readonly #gapMs: number;
  /** Accounts that have requested work. */
  readonly #active = new RecentAccounts(ACTIVE_MS);
  /** Accounts whose callers wait for their PDFs. */
  readonly #awaited = new RecentAccounts(ACTIVE_MS);
  /** When an account whose last request was for the background may get its next permit, by the clock. */
  readonly #background = new LRUCache<string, number>({ max: MAX_ACCOUNTS });
  #gapTimer: NodeJS.Timeout | undefined;

  constructor({ now, maxWaitMs = MAX_WAIT_MS, gapMs = 0 }: AdmissionOptions = {}) {
    super({ usage: { now }, deadline: { ms: maxWaitMs, error: tooManyWait } });
    this.#gapMs = gapMs;
  }

  protected override get capacity(): number {
    return CONCURRENT;
  }

  protected override eligible(): readonly AccountFilter[] {
    return [(account) => !this.#keepsGap(account) && this.#isBelowLimit(account)];
  }

  override acquire(request: PermitRequest, signal?: AbortSignal): Promise<Permit> {
    const { account } = request;
    this.#active.note(account, this.usage.now());
    const permit = super.acquire({ ...request, onGrant: () => this.#beginGap(account) }, signal);
    this.#grantAfterGap();
    return permit;
  }

  /** Notes that the account's request is for the background: no caller waits for the PDF. */
  noteBackground(account: string): void {
    if (!this.#background.has(account)) this.#background.set(account, this.usage.now() + this.#gapMs);
  }

  /** Notes that a caller waits for the PDF of the account's request. */
  noteAwaited(account: string): void {
    this.#background.delete(account);
    this.#awaited.note(account, this.usage.now());
  }

  #isBelowLimit(account: string): boolean {
    return this.heldBy(account) < CONCURRENT_OF_ACCOUNT || !this.#active.hasOther(account, this.usage.now());
  }

  #keepsGap(account: string): boolean {
    const end = this.#background.get(account) ?? Number.NEGATIVE_INFINITY;
    return end > this.usage.now() && this.#awaited.hasOther(account, this.usage.now());
  }

  #beginGap(account: string): void {
    if (this.#background.has(account)) this.#background.set(account, this.usage.now() + this.#gapMs);
  }

  /** Grants permits to requests that wait only for the end of a gap. */
  #grantAfterGap(): void {
    if (this.#gapMs === 0 || this.#gapTimer !== undefined || this.waiting() === 0) return;
    this.#gapTimer = setTimeout(() => {
      this.#gapTimer = undefined;
      this.grant();
      this.#grantAfterGap();
    }, this.#gapMs);
    this.#gapTimer.unref();
  }
}

function tooManyWait(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'Too many requests for work wait to be let in.', {
    retryAfterSeconds: RETRY_AFTER_S,
  });
}
