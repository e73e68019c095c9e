import { setTimeout as pause } from 'node:timers/promises';
import type { Cores, CoreUser } from '../../scheduling/cores.ts';
import type { Permit } from '../../scheduling/fair-queue.ts';
import type { Charge } from '../../scheduling/usage.ts';
import type { RenderPage } from '../contexts/page/render-page.ts';
import type { JobEnd } from '../render/job-end.ts';
import type { BlockedRenders } from './blocked-budget.ts';
import { BlockedTime } from './blocked-time.ts';
import { ProcessorUse, RESPONSE_MS } from './processor-use.ts';

/** A step that is done by then is not looked at: most are. Milliseconds. */
const CHECK_AFTER_MS = 50;
/** A page that waits answers in this time, and is not stopped when its slice is over. Milliseconds. */
const LAST_CHECK_MS = 10;
/** How often the processor time of a blocked page is looked at. */
const CHECK_BLOCKED_MS = 100;
/** How often a page without a core is asked whether it computes, where nothing else tells. */
const ASK_AGAIN_MS = 300;

/**
 * A render's part in the cores: it has one while it computes, and none while its page is blocked. While it waits for a core
 * between two steps its clock stands still, since its document has no part in that. In the middle of one its page stands
 * still and the clock goes on: it has computed for longer than its slice, or while it was taken for blocked.
 */
export class ComputePermit {
  readonly #cores: Cores;
  readonly #blocked: BlockedRenders;
  readonly #user: CoreUser;
  readonly #end: JobEnd;
  #core: Permit | undefined;
  /** Cores that it takes at a time: more than one where workers compute in its page. */
  #wanted = 1;
  /** Since when it has its core, by the clock of this process. */
  #since = 0;
  /** What it computes without a core. */
  #charge: Charge | undefined;
  #wasBlocked = false;
  /** Ends the wait for the next look. */
  #checkNow: (() => void) | undefined;

  constructor(cores: Cores, blocked: BlockedRenders, user: CoreUser, end: JobEnd) {
    this.#cores = cores;
    this.#blocked = blocked;
    this.#user = user;
    this.#end = end;
  }

  /**
   * Resolves when it has a core, for one slice: one that has used its slice up waits for the next.
   *
   * @param page with a document in it, which stands still until then.
   * @throws the job's error when that ends first.
   */
  async take(page?: RenderPage): Promise<void> {
    this.#want(page);
    if (this.#core !== undefined && !this.#isOver()) return;
    if (this.#takeIdle()) return;
    const process = page?.process;
    process?.pause();
    this.#end.stopClock();
    try {
      await this.#queue();
    } finally {
      this.#end.startClock();
      process?.resume();
    }
  }

  /** Gives its core back, if it has one. */
  leave(): void {
    this.#core?.release();
    this.#core = undefined;
    this.#stopConcurrent();
  }

  /**
   * Waits for `step`, something that goes on in the page. The page has a core for as long as it is seen to compute; when
   * it is blocked, others have it. One that computes while it is blocked, or when its slice is over, stands still until it
   * has a core again. One that starts a worker while it is blocked is about to compute, and waits for a core at once.
   *
   * @throws what the step rejects with; the job's error when that ends while the page stands still.
   */
  async watch<T>(page: RenderPage, step: Promise<T>): Promise<T> {
    const blocked = new BlockedTime(
      page,
      (change) => this.#blocked.count(change),
      undefined,
      () => this.#blocked.budgetOf(this.#user.account),
    );
    const use = new ProcessorUse(page);
    const giveWay = async () => {
      await this.#giveWay(page, blocked);
      use.forget();
      void use.check();
    };
    const check = async (over: Promise<boolean>) => {
      if (blocked.active && blocked.measured) {
        if (blocked.exceeded()) await giveWay();
        return;
      }
      const lastCheck = this.#untilSliceOver(RESPONSE_MS).then(() =>
        pause(LAST_CHECK_MS, undefined, { ref: false }),
      );
      await Promise.race([over, use.check(), lastCheck]);
      if (use.waits) this.#block(page, blocked);
      else if (blocked.active) this.#goOnConcurrently(blocked);
    };
    page.onWorker = () => {
      blocked.disturb();
      this.#want(page);
      if (blocked.active || this.#isOver()) this.#checkNow?.();
    };
    try {
      await this.#whileUnderWay(step, check, giveWay);
    } finally {
      page.onWorker = () => undefined;
      use.stop();
      blocked.end();
    }
    return await this.#concluded(step, page);
  }

  /**
   * Waits for `step`, which computes all the while.
   *
   * @param page that computes it, and stands still when its slice is over; without it, the step then goes on without a core.
   * @throws as `watch` does.
   */
  async keep<T>(step: Promise<T>, page?: RenderPage): Promise<T> {
    await this.#whileUnderWay(step, undefined, () => this.#giveWay(page));
    return await this.#concluded(step, page);
  }

  /**
   * The same for the last step, after which it has no core.
   *
   * @throws what the step rejects with.
   */
  async keepToTheEnd<T>(step: Promise<T>): Promise<T> {
    await this.#whileUnderWay(step, undefined, async () => this.#goOnConcurrently());
    this.leave();
    return await step;
  }

  /** Looks around again and again until `step` has settled. */
  async #whileUnderWay(
    step: Promise<unknown>,
    check: ((over: Promise<boolean>) => Promise<void>) | undefined,
    giveWay: () => Promise<void>,
  ): Promise<void> {
    const over = step.then(
      () => true,
      () => true,
    );
    while (!(await Promise.race([over, this.#untilSliceOver(this.#checkAfterMs)]))) {
      // First: one that waits gives its core away for nothing.
      await check?.(over);
      if (this.#isOver()) await giveWay();
    }
  }

  get #checkAfterMs(): number {
    if (this.#core !== undefined) return CHECK_AFTER_MS;
    return this.#charge === undefined ? CHECK_BLOCKED_MS : ASK_AGAIN_MS;
  }

  /** The next step begins with a core, whatever came of this one. The page could begin to compute until then. */
  async #concluded<T>(step: Promise<T>, page: RenderPage | undefined): Promise<T> {
    const value = await step;
    await this.take(page);
    return value;
  }

  #isOver(): boolean {
    return this.#core !== undefined && this.#leftMs < 0;
  }

  /** Each worker may keep a core busy. */
  #want(page: RenderPage | undefined): void {
    if (page !== undefined) this.#wanted = Math.min(this.#cores.total, Math.max(1, page.workers));
  }

  /** What is left of its slice, in milliseconds: nothing once it takes more cores than it has. */
  get #leftMs(): number {
    if (this.#core !== undefined && this.#core.size < this.#wanted) return -1;
    return this.#since + this.#cores.sliceMs(this.#user) - performance.now();
  }

  /** Resolves after `ms`; sooner when its slice is over, as it can be at once when another comes for a core. */
  #untilSliceOver(ms: number): Promise<false> {
    return new Promise((resolve) => {
      const until = performance.now() + ms;
      let timer: NodeJS.Timeout | undefined;
      const done = () => {
        stop();
        clearTimeout(timer);
        resolve(false);
      };
      const wait = () => {
        clearTimeout(timer);
        const left = until - performance.now();
        const slice = this.#core === undefined ? left : this.#leftMs;
        // A slice is over when a moment more than it has passed.
        timer = setTimeout(done, Math.max(0, Math.min(left, slice + 1))).unref();
      };
      const stop = this.#cores.onWaiting(wait);
      this.#checkNow = done;
      wait();
    });
  }

  #block(page: RenderPage, blocked: BlockedTime): void {
    this.#wasBlocked = true;
    this.leave();
    blocked.begin();
    // It answers now. The next look finds it where a navigation has moved it.
    if (!blocked.measured) void page.findProcess().then(() => blocked.active && blocked.begin());
  }

  /**
   * Lets others compute who are first: the page stands still until it has a core. One that was blocked before goes on
   * counting as blocked meanwhile, so that a worker takes other renders beside pages that all begin to compute at once.
   */
  async #giveWay(page: RenderPage | undefined, blocked?: BlockedTime): Promise<void> {
    if (this.#core === undefined && this.#takeIdle()) {
      blocked?.end();
      return;
    }
    const process = page?.process;
    if (process === undefined || !process.pause()) {
      this.#goOnConcurrently(blocked);
      return;
    }
    if (this.#wasBlocked) blocked?.begin();
    try {
      await this.#queue();
    } finally {
      process.resume();
      blocked?.end();
    }
  }

  /** It computes without a core: the system shares the cores among all that do. It counts for its account. */
  #goOnConcurrently(blocked?: BlockedTime): void {
    blocked?.end();
    this.leave();
    this.#charge = this.#cores.usage.begin(this.#user.account);
  }

  #stopConcurrent(): void {
    this.#charge?.end();
    this.#charge = undefined;
  }

  #takeIdle(): boolean {
    const idle =
      this.#core === undefined ? this.#cores.tryAcquire({ ...this.#user, size: this.#wanted }) : undefined;
    if (idle !== undefined) this.#hold(idle);
    return idle !== undefined;
  }

  /** Waits for a core. The one that it may have goes to whoever is next then, which can be itself. */
  async #queue(): Promise<void> {
    const had = this.#core;
    this.#core = undefined;
    this.#stopConcurrent();
    const next = this.#cores.acquire({ ...this.#user, size: this.#wanted }, this.#end.signal);
    had?.release();
    this.#hold(await next);
  }

  #hold(core: Permit): void {
    this.#stopConcurrent();
    this.#core = core;
    this.#since = performance.now();
  }
}
