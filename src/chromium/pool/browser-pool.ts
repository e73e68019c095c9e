import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backoffMs } from '../../async/backoff.ts';
import type { EntranceOpener } from '../../egress/entrances.ts';
import type { DocumentHost } from '../page/document-host.ts';
import { type LaunchOptions, launchBrowser } from '../process/launch.ts';
import { RenderBrowser } from './browser.ts';
import { BrowserGroups } from './browser-groups.ts';
import { BrowserPlaces, type BrowserPlacesOptions, type BrowserSeeker } from './browser-places.ts';
import { BrowserProof } from './browser-proof.ts';
import { BrowserRecycling, type RecycleLimits, type RecycleReason } from './browser-recycling.ts';
import { BrowserScale, type BrowserWeight } from './browser-scale.ts';

/** What is told of browsers whose memory has been weighed. */
export interface BrowserUser {
  /** A browser takes no more renders: what is kept warm in it is to be let go. */
  retired(browser: RenderBrowser): void;
  /** A browser opens no contexts any more: what was made ahead in it is to be let go, and the rest moved. */
  handsOver(browser: RenderBrowser): void;
  /** Contexts in it that may be given back at any moment. */
  idleIn(browser: RenderBrowser): number;
  /** Told of one weighing at a time: the next begins when it has resolved. */
  weighed(weights: readonly BrowserWeight[]): Promise<void>;
  /** Whether there is less memory than renders may need at any moment. */
  memoryShort(): boolean;
}

/** Why a browser was replaced or given up. */
export type RestartReason = 'crashed' | 'hung' | 'unstartable' | RecycleReason;

export interface PoolObserver {
  restarted(reason: RestartReason): void;
  alive(browsers: number): void;
}

export interface BrowserPoolOptions {
  readonly launch: LaunchOptions;
  /** Where documents come from over the network. */
  readonly documents: DocumentHost | undefined;
  /** Opens each context's way to the network; without it all have the one of `launch`. */
  readonly egress: EntranceOpener | undefined;
  /** Browsers kept running. */
  readonly size: number;
  /** Whether a browser does one render only. */
  readonly exclusive: boolean;
  /** Browsers apart from these, for groups of renders and for single ones. */
  readonly apart: Omit<BrowserPlacesOptions<RenderBrowser>, 'retire'>;
  readonly recycle: RecycleLimits;
  /** A renderer process above this is killed: its document allocates without end. Bytes. */
  readonly rendererMemoryBytes: number;
  readonly checkEveryMs: number;
  readonly pingMs: number;
  readonly observer: PoolObserver;
  readonly logger: Logger;
}

const BACKOFF = { firstMs: 200, maxMs: 15_000 };

/**
 * Keeps a number of browsers running: replaces those that die, hang or cannot be started, and those that have done enough
 * (see BrowserRecycling). Whoever uses a browser counts itself in and out with `enter` and `leave`.
 *
 * Renders that may break a browser for others have browsers apart from these: one for each group of them, that is started
 * when it is needed and ends soon after the last of its renders.
 */
export class BrowserPool {
  readonly #options: BrowserPoolOptions;
  readonly #browsers = new Set<RenderBrowser>();
  readonly #waiting = new Set<() => void>();
  readonly #groups: BrowserGroups;
  readonly #places: BrowserPlaces;
  readonly #recycling: BrowserRecycling;
  readonly #user: BrowserUser;
  readonly #proof: BrowserProof;
  readonly #scale: BrowserScale;
  /** Browsers that are being started, and of these those that are for everybody. */
  #starting = 0;
  #adding = 0;
  #failures = 0;
  #closed = false;
  #weighing = false;
  /** Those that have not answered yet. */
  readonly #pinged = new Set<RenderBrowser>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: BrowserPoolOptions, user: BrowserUser) {
    this.#options = options;
    this.#user = user;
    this.#scale = new BrowserScale(options.rendererMemoryBytes);
    this.#proof = new BrowserProof(({ pid }) =>
      options.logger.error({ pid }, 'a browser opens no page any more, and is ended'),
    );
    const retire = (browser: RenderBrowser) => this.#retire(browser);
    this.#places = new BrowserPlaces({ ...options.apart, retire });
    this.#groups = new BrowserGroups({
      launch: (group, seeker) => this.#places.launch(seeker, () => this.#launch(group)),
      enter: (browser) => this.enter(browser),
      retire,
    });
    this.#recycling = new BrowserRecycling({
      limits: options.recycle,
      exclusive: options.exclusive,
      handovers: options.size,
      addAnother: () => this.#add(),
      retire,
      onHandover: (browser) => user.handsOver(browser),
      idleIn: (browser) => user.idleIn(browser),
      memoryShort: () => user.memoryShort(),
      onReplaced: (reason) => options.observer.restarted(reason),
      logger: options.logger,
    });
    this.#timer = setInterval(() => void this.#check(), options.checkEveryMs);
    this.#timer.unref();
  }

  get browsers(): number {
    return this.#browsers.size;
  }

  get ready(): boolean {
    return this.#usable().length > 0;
  }

  /** Starts the browsers; rejects when the first cannot be started. */
  async start(): Promise<void> {
    await this.#add();
    this.#fill();
  }

  /**
   * Counts a render into the least busy browser that takes renders; waits for one if need be.
   *
   * @param signal gives up the wait, and rejects.
   */
  async enterAny(signal: AbortSignal): Promise<RenderBrowser> {
    for (;;) {
      signal.throwIfAborted();
      const [first] = this.#usable()
        .filter((browser) => !this.#options.exclusive || browser.jobs === 0)
        .sort((a, b) => a.busy - b.busy);
      if (first) {
        this.enter(first);
        return first;
      }
      await this.#change(signal);
    }
  }

  /**
   * Counts a render into a browser that is started for it alone, and ends after it. It waits for its turn: see
   * BrowserPlaces.
   *
   * @param seeker whose signal gives up, and rejects.
   */
  async enterAlone(seeker: BrowserSeeker): Promise<RenderBrowser> {
    const { signal } = seeker;
    // Each of them does one render only.
    if (this.#options.exclusive) return await this.enterAny(signal);
    const browser = await this.#launchFor(seeker);
    browser.retiring = true;
    this.enter(browser);
    if (signal.aborted) this.leave(browser);
    signal.throwIfAborted();
    return browser;
  }

  /**
   * Counts a render into the browser of its group. It waits for its turn when there is none.
   *
   * @param seeker whose signal gives up, and rejects.
   */
  async enterGroup(group: string, seeker: BrowserSeeker): Promise<RenderBrowser> {
    if (this.#options.exclusive) return await this.enterAny(seeker.signal);
    return await this.#groups.enter(group, seeker);
  }

  /**
   * Does something that is no render in the browser that keeps the fewest contexts. It is counted in meanwhile, so the browser is not ended for its age or
   * its memory under it.
   *
   * @throws what `work` rejects with; Error when no browser runs.
   */
  async borrow<T>(work: (browser: RenderBrowser) => Promise<T>): Promise<T> {
    const [browser] = this.#usable()
      .map((candidate) => ({ candidate, idle: this.#user.idleIn(candidate) }))
      .sort((a, b) => a.idle - b.idle)
      .map(({ candidate }) => candidate);
    if (browser === undefined) throw new Error('no browser is ready');
    browser.busy++;
    try {
      return await work(browser);
    } finally {
      this.leave(browser);
    }
  }

  /** Counts a render in. */
  enter(browser: RenderBrowser): void {
    browser.busy++;
    browser.jobs++;
    this.#recycling.entered(browser);
  }

  /** Counts a render out. */
  leave(browser: RenderBrowser): void {
    browser.busy--;
    browser.idleSince = Date.now();
    this.#recycling.checkHandover(browser);
    this.#endIfIdle(browser);
    this.#places.makeWay();
  }

  /** Tells of a context that is being opened in a browser: one that opens none any more is replaced. */
  watchOpening(browser: RenderBrowser, opening: Promise<unknown>): void {
    this.#proof.watch(browser, opening);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#recycling.close();
    clearInterval(this.#timer);
    while (this.#browsers.size > 0 || this.#starting + this.#adding > 0) {
      await Promise.all([...this.#browsers].map((browser) => browser.kill('closed')));
      await pause(10);
    }
  }

  /** Those that new contexts may be opened in. */
  #usable(): RenderBrowser[] {
    return [...this.#browsers].filter(
      ({ alive, retiring, group, handover }) =>
        alive && !retiring && group === undefined && handover === undefined,
    );
  }

  /** Tries until it succeeds or nobody waits any more: that it cannot be started is no fault of the render's. */
  async #launchFor(seeker: BrowserSeeker): Promise<RenderBrowser> {
    const { signal } = seeker;
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#places.launch(seeker, () => this.#launch());
      } catch (error) {
        signal.throwIfAborted();
        this.#noteUnstartable(error, failures);
        await pause(waitAfter(failures), undefined, { signal });
      }
    }
  }

  /** Brings the number of usable browsers back to what it should be, each with its own patience. */
  #fill(): void {
    if (this.#closed) return;
    const missing = this.#options.size - this.#usable().length - this.#adding;
    for (let i = 0; i < missing; i++) void this.#addUntilDone();
  }

  async #addUntilDone(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#add();
        return;
      } catch (error) {
        this.#failures++;
        this.#noteUnstartable(error, this.#failures);
      }
      // Still counted as starting while it waits, so that nobody else tries in its place.
      this.#adding++;
      await pause(waitAfter(this.#failures));
      this.#adding--;
    }
  }

  #noteUnstartable(error: unknown, failures: number): void {
    this.#options.observer.restarted('unstartable');
    this.#options.logger.error({ err: error, failures }, 'a browser could not be started');
  }

  async #add(): Promise<void> {
    this.#adding++;
    try {
      await this.#launch();
    } finally {
      this.#adding--;
    }
    this.#wake();
  }

  async #launch(group?: string): Promise<RenderBrowser> {
    this.#starting++;
    try {
      const { launch, documents, egress } = this.#options;
      const launched = await launchBrowser(launch);
      const browser = new RenderBrowser(launched, Date.now(), { documents, egress, group });
      await this.#proof.require(browser);
      this.#failures = 0;
      this.#browsers.add(browser);
      void browser.exited.then(() => this.#ended(browser));
      this.#options.observer.alive(this.#browsers.size);
      return browser;
    } finally {
      this.#starting--;
    }
  }

  #ended(browser: RenderBrowser): void {
    this.#browsers.delete(browser);
    this.#options.observer.alive(this.#browsers.size);
    this.#user.retired(browser);
    if (this.#closed || browser.endReason === 'recycled') return;
    const reason = browser.endReason === 'hung' ? 'hung' : 'crashed';
    this.#options.observer.restarted(reason);
    this.#options.logger.warn({ pid: browser.pid, reason }, 'a browser ended and is replaced');
    this.#fill();
  }

  #retire(browser: RenderBrowser): void {
    browser.retiring = true;
    this.#user.retired(browser);
    this.#endIfIdle(browser);
  }

  #endIfIdle(browser: RenderBrowser): void {
    if (browser.retiring && browser.busy === 0 && browser.alive) void browser.kill('recycled');
  }

  /** Weighs every browser, looks at its age, and pings it. */
  async #check(): Promise<void> {
    if (this.#closed) return;
    this.#places.makeWay();
    for (const browser of this.#browsers) void this.#ping(browser);
    if (this.#weighing) return;
    this.#weighing = true;
    try {
      const browsers = [...this.#browsers];
      const weights = await this.#scale.weigh(browsers);
      for (const [i, browser] of browsers.entries()) this.#judge(browser, weights[i]!);
      if (!this.#closed) await this.#user.weighed(weights);
    } finally {
      this.#weighing = false;
    }
  }

  #judge(browser: RenderBrowser, { bytes, renderers }: BrowserWeight): void {
    const idle = (this.#user.idleIn(browser) * renderers.bytes) / Math.max(1, renderers.count);
    this.#recycling.weighed(browser, bytes - idle);
    this.#recycling.checkHandover(browser);
    this.#groups.endUnused(browser);
  }

  /** Nothing else waits for the answer: a browser that is slow to give it holds up no look at the others. */
  async #ping(browser: RenderBrowser): Promise<void> {
    if (this.#pinged.has(browser)) return;
    this.#pinged.add(browser);
    try {
      const fault = await browser.fault(this.#options.pingMs);
      if (fault && browser.alive) await browser.kill(fault);
    } finally {
      this.#pinged.delete(browser);
    }
  }

  /** Resolves when there is another browser to choose from, or `signal` aborts. */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done);
    });
  }

  #wake(): void {
    for (const resume of [...this.#waiting]) resume();
  }
}

function waitAfter(failures: number): number {
  return backoffMs(failures, BACKOFF.firstMs, BACKOFF.maxMs, Math.random);
}
