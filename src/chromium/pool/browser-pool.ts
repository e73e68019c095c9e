import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backoffMs } from '../../async/backoff.ts';
import type { DocumentHost } from '../page/document-host.ts';
import { type LaunchOptions, launchBrowser } from '../process/launch.ts';
import { type BrowserWeight, RenderBrowser } from './browser.ts';
import { BrowserProof } from './browser-proof.ts';

/** What is told of browsers whose memory has been weighed. */
export interface BrowserUser {
  /** A browser takes no more renders: what is kept warm in it is to be let go. */
  retired(browser: RenderBrowser): void;
  /** Contexts in it that may be given back at any moment. */
  idleIn(browser: RenderBrowser): number;
  weighed(weights: readonly BrowserWeight[]): void;
}

/** When a browser is replaced by a new one. */
export interface RecycleLimits {
  /** Renders. */
  readonly jobs: number;
  readonly ageMs: number;
  /** Proportional memory of its process tree, less what the contexts weigh that are idle in it: those are given back. */
  readonly memoryBytes: number;
}

/** Why a browser was replaced or given up. */
export type RestartReason = 'crashed' | 'hung' | 'unstartable' | 'jobs' | 'age' | 'memory';

export interface PoolObserver {
  restarted(reason: RestartReason): void;
  alive(browsers: number): void;
}

export interface BrowserPoolOptions {
  readonly launch: LaunchOptions;
  /** Where documents come from over the network. */
  readonly documents: DocumentHost | undefined;
  /** Browsers kept running. */
  readonly size: number;
  /** Whether a browser does one render only. */
  readonly exclusive: boolean;
  readonly recycle: RecycleLimits;
  /** A renderer process above this is killed: its document allocates without end. Bytes. */
  readonly rendererMemoryBytes: number;
  readonly checkEveryMs: number;
  readonly pingMs: number;
  readonly observer: PoolObserver;
  readonly logger: Logger;
}

/** A browser of a group ends when nobody has used it for so long, in milliseconds. */
const GROUP_IDLE_MS = 5000;
const BACKOFF = { firstMs: 200, maxMs: 15_000 };

/**
 * Keeps a number of browsers running: replaces those that die, hang or cannot be started, and retires those that have
 * done enough once their replacement runs. Whoever uses a browser counts itself in and out with `enter` and `leave`.
 *
 * Renders that may break a browser for others have browsers apart from these: one for each group of them, that is started
 * when it is needed and ends soon after the last of its renders.
 */
export class BrowserPool {
  readonly #options: BrowserPoolOptions;
  readonly #browsers = new Set<RenderBrowser>();
  readonly #waiting = new Set<() => void>();
  readonly #replacing = new Set<RenderBrowser>();
  readonly #groups = new Map<string, Promise<RenderBrowser>>();
  readonly #user: BrowserUser;
  readonly #proof: BrowserProof;
  /** Browsers that are being started, and of these those that are for everybody. */
  #starting = 0;
  #adding = 0;
  #failures = 0;
  #closed = false;
  #checking = false;
  readonly #timer: NodeJS.Timeout;

  constructor(options: BrowserPoolOptions, user: BrowserUser) {
    this.#options = options;
    this.#user = user;
    this.#proof = new BrowserProof(({ pid }) =>
      options.logger.error({ pid }, 'a browser opens no page any more, and is ended'),
    );
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
   * Counts a render into a browser that is started for it alone, and ends after it.
   *
   * @param signal gives up, and rejects.
   */
  async enterAlone(signal: AbortSignal): Promise<RenderBrowser> {
    // Each of them does one render only.
    if (this.#options.exclusive) return await this.enterAny(signal);
    const browser = await this.#launchFor(signal);
    browser.retiring = true;
    this.enter(browser);
    if (signal.aborted) this.leave(browser);
    signal.throwIfAborted();
    return browser;
  }

  /**
   * Counts a render into the browser of its group.
   *
   * @param signal gives up, and rejects.
   */
  async enterGroup(group: string, signal: AbortSignal): Promise<RenderBrowser> {
    if (this.#options.exclusive) return await this.enterAny(signal);
    for (;;) {
      const started = this.#groups.get(group) ?? this.#startGroup(group);
      const browser = await started;
      signal.throwIfAborted();
      if (browser.alive && !browser.retiring) {
        this.enter(browser);
        return browser;
      }
      this.#forgetGroup(group, started);
    }
  }

  /**
   * Does something in a browser that is no render. It is counted in meanwhile, so the browser is not ended for its age or
   * its memory under it.
   *
   * @throws what `work` rejects with; Error when no browser runs.
   */
  async borrow<T>(work: (browser: RenderBrowser) => Promise<T>): Promise<T> {
    const [browser] = this.#usable();
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
    if (this.#options.exclusive || browser.jobs >= this.#options.recycle.jobs) this.#recycle(browser, 'jobs');
  }

  /** Counts a render out. */
  leave(browser: RenderBrowser): void {
    browser.busy--;
    browser.idleSince = Date.now();
    this.#endIfIdle(browser);
  }

  /** Tells of a context that is being opened in a browser: one that opens none any more is replaced. */
  watchOpening(browser: RenderBrowser, opening: Promise<unknown>): void {
    this.#proof.watch(browser, opening);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    while (this.#browsers.size > 0 || this.#starting + this.#adding > 0) {
      await Promise.all([...this.#browsers].map((browser) => browser.kill('closed')));
      await pause(10);
    }
  }

  #usable(): RenderBrowser[] {
    return [...this.#browsers].filter(
      ({ alive, retiring, group }) => alive && !retiring && group === undefined,
    );
  }

  /** Tries until it succeeds or nobody waits any more: that it cannot be started is no fault of the render's. */
  async #launchFor(signal: AbortSignal): Promise<RenderBrowser> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#launch();
      } catch (error) {
        this.#noteUnstartable(error, failures);
        await pause(waitAfter(failures), undefined, { signal });
      }
    }
  }

  #startGroup(group: string): Promise<RenderBrowser> {
    const started = this.#launch(group);
    this.#groups.set(group, started);
    const forget = () => this.#forgetGroup(group, started);
    started.then((browser) => browser.exited.then(forget), forget);
    return started;
  }

  /** The next render of the group starts another browser, if none has yet. */
  #forgetGroup(group: string, started: Promise<RenderBrowser>): void {
    if (this.#groups.get(group) === started) this.#groups.delete(group);
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
      const browser = new RenderBrowser(
        await launchBrowser(this.#options.launch),
        Date.now(),
        this.#options.documents,
        group,
      );
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

  /** Starts the replacement, then lets the old one finish what it has. */
  #recycle(browser: RenderBrowser, reason: RestartReason): void {
    if (browser.retiring || this.#closed || this.#replacing.has(browser)) return;
    if (browser.group !== undefined) {
      this.#retire(browser);
      return;
    }
    this.#replacing.add(browser);
    this.#options.logger.debug({ pid: browser.pid, reason, jobs: browser.jobs }, 'a browser is replaced');
    void this.#add().then(
      () => {
        if (!this.#options.exclusive) this.#options.observer.restarted(reason);
        this.#replacing.delete(browser);
        this.#retire(browser);
      },
      (error: unknown) => {
        // The old one is better than none; the next check tries again.
        this.#replacing.delete(browser);
        this.#options.logger.error({ err: error }, 'no replacement for a browser could be started');
      },
    );
  }

  #retire(browser: RenderBrowser): void {
    browser.retiring = true;
    this.#user.retired(browser);
    this.#endIfIdle(browser);
  }

  #endUnusedGroup(browser: RenderBrowser): void {
    const unused = browser.busy === 0 && Date.now() - browser.idleSince > GROUP_IDLE_MS;
    if (browser.group !== undefined && !browser.retiring && unused) this.#retire(browser);
  }

  #endIfIdle(browser: RenderBrowser): void {
    if (browser.retiring && browser.busy === 0 && browser.alive) void browser.kill('recycled');
  }

  /** Pings every browser, weighs it, and looks at its age. */
  async #check(): Promise<void> {
    if (this.#checking || this.#closed) return;
    this.#checking = true;
    try {
      const weights = await Promise.all([...this.#browsers].map((browser) => this.#checkOne(browser)));
      if (!this.#closed) this.#user.weighed(weights);
    } finally {
      this.#checking = false;
    }
  }

  async #checkOne(browser: RenderBrowser): Promise<BrowserWeight> {
    const { recycle, rendererMemoryBytes, pingMs } = this.#options;
    const weight = await browser.weigh(rendererMemoryBytes);
    const { bytes, renderers } = weight;
    const idle = (this.#user.idleIn(browser) * renderers.bytes) / Math.max(1, renderers.count);
    if (bytes - idle > recycle.memoryBytes) this.#recycle(browser, 'memory');
    if (Date.now() - browser.startedAt > recycle.ageMs) this.#recycle(browser, 'age');
    this.#endUnusedGroup(browser);
    const fault = await browser.fault(pingMs);
    if (fault && browser.alive) await browser.kill(fault);
    return weight;
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
