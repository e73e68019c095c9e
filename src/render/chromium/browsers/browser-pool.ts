import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../../infra/async/backoff.ts';
import { every } from '../../../infra/async/every.ts';
import type { ListenerOpener } from '../../../infra/egress/proxy-listeners.ts';
import type { MachineMemory } from '../../../infra/machine/machine-memory.ts';
import {
  type BrowserRequest,
  DedicatedBrowsers,
  type DedicatedBrowsersOptions,
} from '../../../infra/scheduling/dedicated-browsers.ts';
import type { DocumentHost } from '../page/document-host.ts';
import { type LaunchOptions, launchBrowser } from '../process/launch.ts';
import { type BrowserLease, RenderBrowser } from './browser.ts';
import { BrowserGroups, type GroupedBrowsers } from './browser-groups.ts';
import { BrowserProof } from './browser-proof.ts';
import {
  BrowserRecycling,
  type KeptContexts,
  type RecycledBrowsers,
  type RecyclingOptions,
} from './browser-recycling.ts';
import { BrowserScale, type BrowserWeight } from './browser-scale.ts';
import { CheckRhythm } from './check-rhythm.ts';
import { endHeaviestPage } from './page-memory.ts';
import { SharedProcesses } from './shared-processes.ts';

/** A render's requirements of its browser. */
interface BrowserNeeds extends BrowserRequest {
  /** Whether the render needs a browser of its own, which ends with it. */
  readonly alone?: boolean | undefined;
  /** The group of renders that share a dedicated browser; without it, the render uses a shared browser. */
  readonly group?: string | undefined;
}

interface BrowserPoolOptions extends RecyclingOptions {
  readonly launch: LaunchOptions;
  /** Serves documents to the browser over the network. */
  readonly documents: DocumentHost | undefined;
  /** Opens a proxy listener for each context; without it all contexts use the proxy of `launch`. */
  readonly egress: ListenerOpener | undefined;
  /** Dedicated browsers in addition to the shared ones, for groups of renders and for single renders. */
  readonly dedicated: Omit<DedicatedBrowsersOptions<RenderBrowser>, 'retire'>;
  readonly machine: MachineMemory;
  /** A process other than the main one is ended above this, because a document allocates without end. Bytes. */
  readonly rendererMemoryBytes: number;
  /** Called with the accounts whose renders may have caused the end of a GPU process. */
  readonly onSuspects: (accounts: readonly string[]) => void;
  readonly checkEveryMs: number;
  readonly pingMs: number;
}

const BACKOFF = { firstMs: 200, maxMs: 15_000 };

/**
 * Keeps a number of browsers running: replaces a browser that dies, hangs, cannot be started, or has done enough (see
 * BrowserRecycling). A render acquires the browser that it needs; when it is given a kept context, it leases the
 * browser of that context.
 *
 * Renders that may break a browser for others use dedicated browsers: one per group. It is started when it is needed
 * and ends soon after the last of its renders.
 */
export class BrowserPool implements GroupedBrowsers, RecycledBrowsers {
  readonly #options: BrowserPoolOptions;
  readonly #browsers = new Set<RenderBrowser>();
  readonly #waiting = new Set<() => void>();
  readonly #groups: BrowserGroups;
  readonly #dedicated: DedicatedBrowsers<RenderBrowser>;
  readonly #recycling: BrowserRecycling;
  readonly #proof: BrowserProof;
  readonly #scale = new BrowserScale();
  readonly #rhythm = new CheckRhythm();
  readonly #shared: SharedProcesses;
  /** All browsers that are being started; `#adding` counts the shared ones among them. */
  #starting = 0;
  #adding = 0;
  #failures = 0;
  #closed = false;
  #weighing = false;
  #contexts: KeptContexts | undefined;
  /** Browsers that have not responded to their ping yet. */
  readonly #pinged = new Set<RenderBrowser>();
  #endChecks = () => {};

  constructor(options: BrowserPoolOptions) {
    this.#options = options;
    this.#shared = new SharedProcesses({ ...options, memoryBytes: options.rendererMemoryBytes });
    this.#proof = new BrowserProof(options.logger);
    const retire = (browser: RenderBrowser) => this.retire(browser);
    this.#dedicated = new DedicatedBrowsers({ ...options.dedicated, retire });
    this.#groups = new BrowserGroups(this);
    this.#recycling = new BrowserRecycling(options, this);
  }

  get browsers(): number {
    return this.#browsers.size;
  }

  get ready(): boolean {
    return this.#usable().length > 0;
  }

  /** The contexts kept in its browsers. @throws Error before `start`. */
  get contexts(): KeptContexts {
    if (this.#contexts === undefined) throw new Error('the browsers have not been started');
    return this.#contexts;
  }

  /** @param contexts the contexts that are kept in its browsers. @throws the rejection of the first one's start. */
  async start(contexts: KeptContexts): Promise<void> {
    this.#contexts = contexts;
    this.#endChecks = every(this.#options.checkEveryMs, () => void this.#check());
    await this.add();
    this.#fill();
  }

  /**
   * Counts a render as running in a browser that meets its needs: the least busy shared browser, the browser of its
   * group, or a browser that is started for this render alone and ends after it. Where browsers do one render each, any
   * unused browser meets every need. Waits for a browser if none is available; a dedicated one is started by the rules
   * of DedicatedBrowsers.
   *
   * @throws the reason of the signal when that aborts first.
   */
  async acquire(needs: BrowserNeeds): Promise<BrowserLease> {
    const { alone, group } = needs;
    if (this.#options.exclusive) return await this.#acquireShared(needs);
    if (alone) return await this.#acquireAlone(needs);
    if (group !== undefined) return await this.#groups.acquire(group, needs);
    return await this.#acquireShared(needs);
  }

  /** Counts a render of an account as running in a browser that has a context for it. */
  lease(browser: RenderBrowser, account: string): BrowserLease {
    browser.busy++;
    browser.jobs++;
    const ended = browser.renders.begin(account);
    this.#recycling.entered(browser);
    const release = () => {
      ended();
      this.#leave(browser);
    };
    return { browser, release };
  }

  /**
   * Does work other than a render in the browser that keeps the fewest contexts. The work counts as busy, so that the
   * browser is not ended meanwhile for its age or its memory.
   *
   * @throws the rejection of `work`; Error when no browser runs.
   */
  async borrow<T>(work: (browser: RenderBrowser) => Promise<T>): Promise<T> {
    const [browser] = this.#usable()
      .map((candidate) => ({ candidate, idle: this.contexts.idleIn(candidate) }))
      .sort((a, b) => a.idle - b.idle)
      .map(({ candidate }) => candidate);
    if (browser === undefined) throw new Error('no browser is ready');
    browser.busy++;
    try {
      return await work(browser);
    } finally {
      this.#leave(browser);
    }
  }

  /** Starts a dedicated browser when there is a permit. @throws the rejection of its start; the signal's reason. */
  launch(request: BrowserRequest, group?: string): Promise<RenderBrowser> {
    return this.#dedicated.launch(request, () => this.#launch(group));
  }

  /** Retires a browser: it takes no more renders, and ends after the last one. */
  retire(browser: RenderBrowser): void {
    browser.retiring = true;
    this.contexts.release(browser);
    this.#endIfIdle(browser);
  }

  /** Watches the opening of a context: a browser that can open none any more is replaced. */
  watchOpening(browser: RenderBrowser, opening: Promise<unknown>): void {
    this.#proof.watch(browser, opening);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#recycling.close();
    this.#endChecks();
    while (this.#browsers.size > 0 || this.#starting + this.#adding > 0) {
      await Promise.all([...this.#browsers].map((browser) => browser.kill('closed')));
      await pause(10);
    }
  }

  async #acquireShared({ account, signal }: BrowserRequest): Promise<BrowserLease> {
    for (;;) {
      signal.throwIfAborted();
      const [first] = this.#usable()
        .filter((browser) => !this.#options.exclusive || browser.jobs === 0)
        .sort((a, b) => a.busy - b.busy);
      if (first) return this.lease(first, account);
      await this.#change(signal);
    }
  }

  async #acquireAlone(request: BrowserRequest): Promise<BrowserLease> {
    const browser = await this.#launchAlone(request);
    browser.retiring = true;
    const lease = this.lease(browser, request.account);
    if (request.signal.aborted) lease.release();
    request.signal.throwIfAborted();
    return lease;
  }

  #leave(browser: RenderBrowser): void {
    browser.busy--;
    browser.idleSince = Date.now();
    this.#recycling.checkDrain(browser);
    this.#endIfIdle(browser);
    this.#dedicated.makeRoom();
  }

  /** The browsers in which new contexts may be opened. */
  #usable(): RenderBrowser[] {
    return [...this.#browsers].filter(
      ({ alive, retiring, group, drain }) => alive && !retiring && group === undefined && drain === undefined,
    );
  }

  /** Retries until a browser has started or the request is aborted: a failed start must not fail the render. */
  async #launchAlone(request: BrowserRequest): Promise<RenderBrowser> {
    const { signal } = request;
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.launch(request);
      } catch (error) {
        signal.throwIfAborted();
        this.#noteUnstartable(error, failures);
        await pause(waitAfter(failures), undefined, { signal });
      }
    }
  }

  /** Starts as many browsers as are missing; each start has its own retries. */
  #fill(): void {
    if (this.#closed) return;
    const missing = this.#options.size - this.#usable().length - this.#adding;
    for (let i = 0; i < missing; i++) void this.#addUntilDone();
  }

  async #addUntilDone(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.add();
        return;
      } catch (error) {
        this.#failures++;
        this.#noteUnstartable(error, this.#failures);
      }
      // Counts as starting while it waits, so that no other start replaces it.
      this.#adding++;
      await pause(waitAfter(this.#failures));
      this.#adding--;
    }
  }

  #noteUnstartable(error: unknown, failures: number): void {
    this.#options.metrics?.browserRestarts.inc({ reason: 'unstartable' });
    this.#options.logger.error({ err: error, failures }, 'a browser could not be started');
  }

  /** Starts a shared browser. @throws the rejection of its start. */
  async add(): Promise<void> {
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
      this.#options.metrics?.browsers.set(this.#browsers.size);
      return browser;
    } finally {
      this.#starting--;
    }
  }

  #ended(browser: RenderBrowser): void {
    this.#browsers.delete(browser);
    this.#options.metrics?.browsers.set(this.#browsers.size);
    this.contexts.release(browser);
    if (this.#closed || browser.endReason === 'recycled') return;
    const reason = browser.endReason === 'hung' ? 'hung' : 'crashed';
    this.#options.metrics?.browserRestarts.inc({ reason });
    this.#options.logger.warn({ pid: browser.pid, reason }, 'a browser ended and is replaced');
    this.#fill();
  }

  #endIfIdle(browser: RenderBrowser): void {
    if (browser.retiring && browser.busy === 0 && browser.alive) void browser.kill('recycled');
  }

  /** Measures the memory of every browser, checks its age, and pings it: seldom while nothing is rendered. */
  async #check(): Promise<void> {
    if (this.#closed) return;
    this.#dedicated.makeRoom();
    if (!this.#rhythm.due([...this.#browsers]) && !this.#options.memory.runsShort()) return;
    for (const browser of this.#browsers) void this.#ping(browser);
    if (this.#weighing) return;
    this.#weighing = true;
    try {
      const browsers = [...this.#browsers];
      const weights = await this.#scale.weigh(browsers);
      const processes = weights.map((weight) => weight.processes);
      if (this.#shared.check(browsers, processes)) this.#rhythm.wake();
      for (const [i, browser] of browsers.entries()) this.#judge(browser, weights[i]!);
      if (!this.#closed) await this.#saveMemory(weights);
    } finally {
      this.#weighing = false;
    }
  }

  #judge(browser: RenderBrowser, { bytes, renderers }: BrowserWeight): void {
    const idle = (this.contexts.idleIn(browser) * renderers.bytes) / Math.max(1, renderers.count);
    this.#recycling.weighed(browser, bytes - idle);
    this.#recycling.checkDrain(browser);
    this.#groups.endUnused(browser);
  }

  async #saveMemory(weights: readonly BrowserWeight[]): Promise<void> {
    const { memory, machine, logger } = this.#options;
    memory.weighed(weights.map(({ renderers }) => renderers));
    this.contexts.keepWithinMemory();
    const ended = await endHeaviestPage(machine, weights, () => this.contexts.idlePids());
    if (ended !== undefined) logger.warn({ pid: ended }, 'memory runs out: the heaviest page is ended');
  }

  /** Runs concurrently with the checks: a browser that is slow to respond does not delay the check of the others. */
  async #ping(browser: RenderBrowser): Promise<void> {
    if (this.#pinged.has(browser)) return;
    this.#pinged.add(browser);
    try {
      const problem = await browser.check(this.#options.pingMs);
      if (!problem || !browser.alive) return;
      this.#options.logger.warn({ pid: browser.pid, problem }, 'a browser does not respond, and is ended');
      await browser.kill(problem);
    } finally {
      this.#pinged.delete(browser);
    }
  }

  /** Resolves when a further browser is available, or `signal` aborts. */
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
