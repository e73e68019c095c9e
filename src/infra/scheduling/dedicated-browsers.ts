import { type AccountFilter, FairQueue, type Permit } from './fair-queue.ts';
import { spareFilters } from './spare-permit.ts';
import { type Charge, Usage } from './virtual-time.ts';

interface DedicatedBrowser {
  /** Renders in it at present. */
  readonly busy: number;
  readonly jobs: number;
  /** It accepts no more renders, and ends after the last. */
  readonly retiring: boolean;
  /** Resolves when it has ended. */
  readonly exited: Promise<unknown>;
}

/** A request for a dedicated browser. */
export interface BrowserRequest {
  readonly account: string;
  /** The render's permit to use a core, which is taken while the browser starts. */
  readonly permit?: { acquire(): Promise<void>; release(): void } | undefined;
  /** Ends the wait when it aborts. */
  readonly signal: AbortSignal;
}

export interface DedicatedBrowsersOptions<B> {
  readonly total: number;
  readonly starting: number;
  /** Retires a browser: it accepts no more renders, and ends after the last. */
  readonly retire: (browser: B) => void;
  /** Called when a render begins (1) or ceases (-1) to wait for a browser. */
  readonly onWaiting: (change: 1 | -1) => void;
  /** Milliseconds of a clock that never goes back. Default: the process's own. */
  readonly now?: (() => number) | undefined;
}

interface Living<B> {
  readonly permit: Permit;
  /** Undefined while it is being started. */
  browser: B | undefined;
  /** Present once it was requested to retire for a waiting account. */
  retiring: Charge | undefined;
}

/** While others wait, a browser stays with its account for at least this time, in milliseconds. */
const LEAST_MS = 2000;
/** A browser that has not ended this long after the request to retire is in a slow render, in milliseconds. */
const SLOW_TO_RETIRE_MS = 1000;
/** Assumed memory of a browser with one page, in bytes. */
const BROWSER_BYTES = 192 * 1024 * 1024;
/** Part of all memory that dedicated browsers may use. */
const MEMORY_PART = 0.2;
/** Part of all slots whose renders may have dedicated browsers. */
const SLOTS_PART = 0.5;

/** Dedicated browsers that run concurrently, at least 2. @param memoryBytes memory of the machine. */
export function dedicatedBrowsersFor(slots: number, memoryBytes: number): number {
  const inMemory = Math.floor((memoryBytes * MEMORY_PART) / BROWSER_BYTES);
  return Math.max(2, Math.min(Math.ceil(slots * SLOTS_PART), inMemory));
}

/**
 * Browsers that are used by a single account: a permit is held until the browser has ended. While others wait, browsers
 * that are kept for their account's next render retire: idle ones at once, and the others after a while.
 */
export class DedicatedBrowsers<B extends DedicatedBrowser> extends FairQueue {
  readonly #options: DedicatedBrowsersOptions<B>;
  readonly #living = new Set<Living<B>>();
  /** How long the browsers of each account take to retire. */
  readonly #pace: Usage;

  constructor(options: DedicatedBrowsersOptions<B>) {
    super({ usage: { now: options.now } });
    this.#options = options;
    this.#pace = new Usage({ slowMs: SLOW_TO_RETIRE_MS, now: options.now });
  }

  protected override get capacity(): number {
    const { total, starting } = this.#options;
    return this.#starting < starting ? total + this.#spare : 0;
  }

  protected override eligible(): readonly AccountFilter[] {
    if (this.taken >= this.#options.total) return spareFilters(this, this.#pace);
    return [(account) => this.#mayHaveAnother(account)];
  }

  /** @throws the rejection of `start`; the reason of the request's signal when that aborts before its permit. */
  async launch({ account, permit, signal }: BrowserRequest, start: () => Promise<B>): Promise<B> {
    const living = await this.#start(account, signal);
    try {
      await permit?.acquire();
      const browser = await start();
      living.browser = browser;
      void browser.exited.then(() => this.#release(living));
      return browser;
    } catch (error) {
      this.#release(living);
      throw error;
    } finally {
      permit?.release();
      this.grant();
    }
  }

  /** Retires browsers for waiting accounts. To be called about every second, and when a browser becomes idle. */
  makeRoom(): void {
    if (this.waiting() === 0) return;
    this.grant();
    if (this.#living.size < this.#options.total) return;
    const wanted = [...this.waitingAccounts].filter((account) => this.#mayHaveAnother(account)).length;
    // A browser that is late does not count, so that another one is retired.
    const retiring = [...this.#living].filter((living) => living.retiring && !this.#isLate(living)).length;
    for (const living of this.#retirable().slice(0, Math.max(0, wanted - retiring))) {
      living.retiring = this.#pace.begin(living.permit.account);
      this.#options.retire(living.browser!);
    }
  }

  /** Browsers that may be requested to retire: idle ones first, then by the usage of their accounts, highest first. */
  #retirable(): Living<B>[] {
    const { usage } = this;
    const used = ({ permit }: Living<B>) => usage.of(permit.account);
    return [...this.#living]
      .filter(({ browser, permit }) => {
        if (browser === undefined || browser.retiring) return false;
        const isIdle = browser.jobs > 0 && browser.busy === 0;
        return isIdle || usage.now() - permit.since > LEAST_MS;
      })
      .sort((a, b) => Math.sign(a.browser!.busy) - Math.sign(b.browser!.busy) || used(b) - used(a));
  }

  async #start(account: string, signal: AbortSignal): Promise<Living<B>> {
    let living: Living<B> | undefined;
    const onGrant = (permit: Permit) => {
      living = { permit, browser: undefined, retiring: undefined };
      this.#living.add(living);
    };
    this.#options.onWaiting(1);
    try {
      const permit = this.acquire({ account, onGrant }, signal);
      this.makeRoom();
      await permit;
      return living!;
    } finally {
      this.#options.onWaiting(-1);
    }
  }

  #release(living: Living<B>): void {
    this.#living.delete(living);
    living.retiring?.end();
    living.permit.release();
  }

  get #starting(): number {
    return [...this.#living].filter(({ browser }) => browser === undefined).length;
  }

  /** One spare permit exists while every browser is late to retire. */
  get #spare(): number {
    const isFull = this.#living.size >= this.#options.total;
    return isFull && [...this.#living].every((living) => this.#isLate(living)) ? 1 : 0;
  }

  /**
   * Whether an account may have a further browser. One browser is kept for accounts that have none. While there is a
   * quick account, slow accounts also leave one browser unused.
   */
  #mayHaveAnother(account: string): boolean {
    const { heldByAccount, waitingAccounts } = this;
    const notKept = Math.max(1, this.#options.total - 1);
    if (this.heldBy(account) >= notKept) return false;
    if (!this.#pace.isSlow(account)) return true;
    const others = [...heldByAccount.keys(), ...waitingAccounts];
    if (others.every((other) => this.#pace.isSlow(other))) return true;
    let slow = 0;
    for (const [other, browsers] of heldByAccount) if (this.#pace.isSlow(other)) slow += browsers;
    return slow < notKept;
  }

  #isLate({ retiring }: Living<B>): boolean {
    return retiring !== undefined && this.usage.now() - retiring.since > SLOW_TO_RETIRE_MS;
  }
}
