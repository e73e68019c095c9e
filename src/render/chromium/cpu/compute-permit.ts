import type { Cores, CoreUser } from '../../../infra/scheduling/cores.ts';
import type { Permit } from '../../../infra/scheduling/fair-queue.ts';
import type { Charge } from '../../../infra/scheduling/virtual-time.ts';
import type { CancelScope } from '../cancel-scope.ts';
import type { RenderPage } from '../page/render-page.ts';
import type { BlockedRenders } from './blocked-budget.ts';
import { BlockedTime } from './blocked-time.ts';
import { ProcessorUse } from './processor-use.ts';

/** A step that is done by then, as most are, is not checked. Milliseconds. */
const CHECK_AFTER_MS = 50;
/** Interval at which a page without a core is checked, in milliseconds. */
const CHECK_AGAIN_MS = 100;

/**
 * A render's permit to use a core: it holds a core while it computes, and none while its page is blocked. While it
 * waits for a core between two steps its clock is stopped, since its document has not caused the wait. Within a step
 * its page is stopped and the clock runs on: the page has computed for longer than its slice, or while it counted as
 * blocked.
 */
export class ComputePermit {
  readonly #cores: Cores;
  readonly #blocked: BlockedRenders;
  readonly #user: CoreUser;
  readonly #end: CancelScope;
  #core: Permit | undefined;
  /** Number of cores that it acquires: more than one if workers compute in its page. */
  #wanted = 1;
  /** When it acquired its core, by `performance.now()`. */
  #since = 0;
  #charge: Charge | undefined;
  #wasBlocked = false;
  /** Starts the next check at once. */
  #checkNow: (() => void) | undefined;

  constructor(cores: Cores, blocked: BlockedRenders, user: CoreUser, end: CancelScope) {
    this.#cores = cores;
    this.#blocked = blocked;
    this.#user = user;
    this.#end = end;
  }

  /**
   * Resolves when the render has a core, for one slice; after a used-up slice it waits for the next.
   *
   * @param page a page with a document, which is stopped meanwhile.
   * @throws the job's error when that ends first.
   */
  async acquire(page?: RenderPage): Promise<void> {
    this.#want(page);
    if (this.#core !== undefined && !this.#isOver()) return;
    if (this.#acquireIdle()) return;
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

  release(): void {
    this.#core?.release();
    this.#core = undefined;
    this.#stopConcurrent();
  }

  /**
   * Waits for `step`, which runs in the page. The render holds a core while the page is found to compute, and releases
   * it while the page is blocked. A page that computes while it is blocked, or beyond its slice, is stopped until the
   * render has a core again. A page that starts a worker while it is blocked is about to compute, and waits for a core
   * at once.
   *
   * @throws the rejection of the step; the job's error when that ends while the page is stopped.
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
      use.restart();
    };
    const check = async () => {
      if (page.process === undefined) {
        // A navigation has moved the page: until its new process is found, it counts as computing.
        void page.findProcess();
        if (blocked.active) this.#goOnConcurrently(blocked);
      } else if (blocked.active) {
        if (blocked.exceeded()) await giveWay();
      } else if (use.waits()) {
        this.#block(blocked);
      }
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
   * Waits for `step`, which computes all the time.
   *
   * @param page the page that computes it, and is stopped when its slice is over; without it, the step then continues
   *   without a core.
   * @throws as `watch` does.
   */
  async keep<T>(step: Promise<T>, page?: RenderPage): Promise<T> {
    await this.#whileUnderWay(step, undefined, () => this.#giveWay(page));
    return await this.#concluded(step, page);
  }

  /** Like `keep`, for the last step, after which the render has no core. @throws the rejection of the step. */
  async keepToTheEnd<T>(step: Promise<T>): Promise<T> {
    await this.#whileUnderWay(step, undefined, async () => this.#goOnConcurrently());
    this.release();
    return await step;
  }

  /** Repeats the checks until `step` has settled. */
  async #whileUnderWay(
    step: Promise<unknown>,
    check: (() => Promise<void>) | undefined,
    giveWay: () => Promise<void>,
  ): Promise<void> {
    const over = step.then(
      () => true,
      () => true,
    );
    while (!(await Promise.race([over, this.#untilSliceOver(this.#checkAfterMs)]))) {
      // Checked first, since a page that waits releases its core without being stopped.
      await check?.();
      if (this.#isOver()) await giveWay();
    }
  }

  get #checkAfterMs(): number {
    return this.#core === undefined ? CHECK_AGAIN_MS : CHECK_AFTER_MS;
  }

  /** Acquires a core for the next step, whatever follows this one: the page could compute until then. */
  async #concluded<T>(step: Promise<T>, page: RenderPage | undefined): Promise<T> {
    const value = await step;
    await this.acquire(page);
    return value;
  }

  #isOver(): boolean {
    return this.#core !== undefined && this.#leftMs < 0;
  }

  /** Sets the number of cores, since each worker may keep a core busy. */
  #want(page: RenderPage | undefined): void {
    if (page !== undefined) this.#wanted = Math.min(this.#cores.total, Math.max(1, page.workers));
  }

  /** Time left of its slice, in milliseconds: none once it needs more cores than it has. */
  get #leftMs(): number {
    if (this.#core !== undefined && this.#core.size < this.#wanted) return -1;
    return this.#since + this.#cores.sliceMs(this.#user) - performance.now();
  }

  /** Resolves after `ms` milliseconds or its slice, which may end at once when another render waits for a core. */
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
        // A slice is over only when slightly more than its length has passed.
        timer = setTimeout(done, Math.max(0, Math.min(left, slice + 1))).unref();
      };
      const stop = this.#cores.onWaiting(wait);
      this.#checkNow = done;
      wait();
    });
  }

  #block(blocked: BlockedTime): void {
    this.#wasBlocked = true;
    this.release();
    blocked.begin();
  }

  /**
   * Lets renders that are first in the queue compute: the page is stopped until it has a core. A page that was blocked
   * before still counts as blocked meanwhile, so that a worker takes other renders in addition to pages that all begin
   * to compute at once.
   */
  async #giveWay(page: RenderPage | undefined, blocked?: BlockedTime): Promise<void> {
    if (this.#core === undefined && this.#acquireIdle()) {
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

  /** Continues without a core: the system shares the cores among computing pages. The account is charged. */
  #goOnConcurrently(blocked?: BlockedTime): void {
    blocked?.end();
    this.release();
    this.#charge = this.#cores.usage.begin(this.#user.account);
  }

  #stopConcurrent(): void {
    this.#charge?.end();
    this.#charge = undefined;
  }

  #acquireIdle(): boolean {
    const idle =
      this.#core === undefined ? this.#cores.tryAcquire({ ...this.#user, size: this.#wanted }) : undefined;
    if (idle !== undefined) this.#hold(idle);
    return idle !== undefined;
  }

  /** Waits for a core. A core that it already has goes to the next render in the queue, which may be this one. */
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
