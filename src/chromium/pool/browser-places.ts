import { AccountUse, nextAtSpare, nextTurn, type Use } from '../../async/account-use.ts';
import type { RenderBrowser } from './browser.ts';

/** What places need to know of a browser. */
export type PlacedBrowser = Pick<RenderBrowser, 'busy' | 'jobs' | 'retiring' | 'exited'>;

/** Who needs a browser apart from all others. */
export interface BrowserSeeker {
  readonly account: string;
  /** Its part in the cores, of which the start of a browser takes one. */
  readonly turn?: { take(): Promise<void>; leave(): void } | undefined;
  /** Gives up. */
  readonly signal: AbortSignal;
}

export interface BrowserPlacesOptions<B extends PlacedBrowser> {
  /** Browsers that live at a time. */
  readonly total: number;
  /** Of these, how many are being started at a time. */
  readonly starting: number;
  /** Has a browser take no more renders, and end after the last. */
  readonly retire: (browser: B) => void;
  /** A render waits for a place (1), or does no more (-1). */
  readonly onWaiting: (change: 1 | -1) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

interface Waiting<B> {
  readonly account: string;
  readonly grant: (place: Place<B>) => void;
}

interface Place<B> {
  readonly account: string;
  readonly use: Use;
  /** Undefined while it is being started. */
  browser: B | undefined;
  /** Since it was asked to end for others. */
  leaving: Use | undefined;
}

/** While others wait, a browser is left to its account for so long. Milliseconds. */
const LEAST_MS = 2000;

/** A browser that has not ended so long after it was asked to is in a slow render. Milliseconds. */
const SLOW_TO_LEAVE_MS = 1000;

/** What a browser and a page in it are taken to weigh, which no other shares. Bytes. */
const BROWSER_BYTES = 192 * 1024 * 1024;
/** Of all memory, what browsers apart may have. */
const BROWSERS_SHARE = 0.2;
/** Of all slots, how many renders in browsers of their own may have. */
const SLOTS_SHARE = 0.5;

/** Browsers apart that live at a time, at least 2. @param memoryBytes that there are. */
export function placesFor(slots: number, memoryBytes: number): number {
  const room = Math.floor((memoryBytes * BROWSERS_SHARE) / BROWSER_BYTES);
  return Math.max(2, Math.min(Math.ceil(slots * SLOTS_SHARE), room));
}

/**
 * The places of browsers that are apart from the one that all share: so many live at a time, and fewer are being started.
 * The others wait, and the account that has had such browsers for the least time lately is next. No account has all
 * places. While somebody waits, browsers that are kept for their accounts' next renders give way: idle ones at once, and
 * others after a while, when what is under way in them has ended. Accounts whose browsers are slow to leave have all places
 * but one while others are about; when they have every one all the same, one browser more is started for others: see
 * docs/decisions/0227-a-spare-slot.md.
 *
 * What the start of a browser computes counts for its account, as what its documents compute does.
 */
export class BrowserPlaces<B extends PlacedBrowser = RenderBrowser> {
  readonly #options: BrowserPlacesOptions<B>;
  readonly #places = new Set<Place<B>>();
  readonly #waiting = new Set<Waiting<B>>();
  readonly #use: AccountUse;
  readonly #now: () => number;
  /** How long the browsers of accounts take to leave when they are asked to. */
  readonly #leaving: AccountUse;

  constructor(options: BrowserPlacesOptions<B>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#use = new AccountUse({ slowMs: Number.POSITIVE_INFINITY, strangerMs: 0, now: this.#now });
    this.#leaving = new AccountUse({ slowMs: SLOW_TO_LEAVE_MS, now: this.#now });
  }

  /**
   * Starts a browser when it is the seeker's turn. Its place is taken until it has ended.
   *
   * @throws what `start` rejects with; the reason of the seeker's signal when that aborts first.
   */
  async launch({ account, turn, signal }: BrowserSeeker, start: () => Promise<B>): Promise<B> {
    const place = await this.#take(account, signal);
    try {
      await turn?.take();
      const browser = await start();
      place.browser = browser;
      void browser.exited.then(() => this.#release(place));
      return browser;
    } catch (error) {
      this.#release(place);
      throw error;
    } finally {
      turn?.leave();
      this.#grant();
    }
  }

  /** Has browsers end that others wait for. To be called whenever one may have become idle, and now and then. */
  makeWay(): void {
    if (this.#waiting.size === 0) return;
    this.#grant();
    if (this.#places.size < this.#options.total) return;
    const accounts = new Set([...this.#waiting].map(({ account }) => account));
    const wanted = [...accounts].filter((account) => this.#mayHaveAnother(account)).length;
    // Where one is late, another is asked.
    const leaving = [...this.#places].filter(
      (place) => place.leaving !== undefined && !this.#isLate(place),
    ).length;
    for (const place of this.#givingWayFirst().slice(0, Math.max(0, wanted - leaving))) {
      place.leaving = this.#leaving.begin(place.account);
      this.#options.retire(place.browser!);
    }
  }

  /** Those that may be asked to give way: idle ones, then those whose account has had most. */
  #givingWayFirst(): Place<B>[] {
    const now = this.#now();
    const used = ({ account }: Place<B>) => this.#use.of(account);
    return [...this.#places]
      .filter(({ browser, use }) => {
        if (browser === undefined || browser.retiring) return false;
        const idle = browser.jobs > 0 && browser.busy === 0;
        return idle || now - use.since > LEAST_MS;
      })
      .sort((a, b) => Math.sign(a.browser!.busy) - Math.sign(b.browser!.busy) || used(b) - used(a));
  }

  #take(account: string, signal: AbortSignal): Promise<Place<B>> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const leave = () => {
        signal.removeEventListener('abort', giveUp);
        this.#waiting.delete(waiting);
        this.#options.onWaiting(-1);
      };
      const waiting: Waiting<B> = {
        account,
        grant: (place) => {
          leave();
          resolve(place);
        },
      };
      const giveUp = () => {
        leave();
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#use.arrive(account, this.#waiting);
      this.#waiting.add(waiting);
      this.#options.onWaiting(1);
      this.makeWay();
    });
  }

  #release(place: Place<B>): void {
    if (!this.#places.delete(place)) return;
    this.#use.end(place.use);
    if (place.leaving !== undefined) this.#leaving.end(place.leaving);
    this.#grant();
  }

  #grant(): void {
    while (this.#starting < this.#options.starting) {
      const next = this.#next();
      if (next === undefined) return;
      const { account } = next;
      const place = { account, use: this.#use.begin(account), browser: undefined, leaving: undefined };
      this.#places.add(place);
      next.grant(place);
    }
  }

  #next(): Waiting<B> | undefined {
    const { total } = this.#options;
    if (this.#places.size < total)
      return nextTurn(this.#waiting, this.#use, (account) => this.#mayHaveAnother(account));
    const isSpareFree =
      this.#places.size === total && [...this.#places].every((place) => this.#isLate(place));
    if (!isSpareFree) return undefined;
    return nextAtSpare(this.#waiting, this.#use, this.#leaving, (account) => this.#placesOf(account) === 0);
  }

  get #starting(): number {
    return [...this.#places].filter(({ browser }) => browser === undefined).length;
  }

  /** One place is kept for those who have none, and from those who are slow together while somebody else is about. */
  #mayHaveAnother(account: string): boolean {
    const notKept = Math.max(1, this.#options.total - 1);
    if (this.#placesOf(account) >= notKept) return false;
    if (!this.#leaving.isSlow(account)) return true;
    const isQuick = (other: { readonly account: string }) => !this.#leaving.isSlow(other.account);
    const places = [...this.#places];
    if (![...places, ...this.#waiting].some(isQuick)) return true;
    return places.length - places.filter(isQuick).length < notKept;
  }

  #placesOf(account: string): number {
    return [...this.#places].filter((place) => place.account === account).length;
  }

  #isLate({ leaving }: Place<B>): boolean {
    return leaving !== undefined && this.#now() - leaving.since > SLOW_TO_LEAVE_MS;
  }
}
