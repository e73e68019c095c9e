import { setTimeout as pause } from 'node:timers/promises';
import type { Core, Cores, CoreUser } from './cores.ts';
import type { JobEnd } from './job-end.ts';
import { ANSWER_MS, ProcessorUse } from './page/processor-use.ts';
import type { RenderPage } from './page/render-page.ts';
import { Rest } from './page/rest.ts';

/** A step that is done by then is not looked at: most are. Milliseconds. */
const LOOK_AFTER_MS = 50;
/** A page that waits answers in this time, and is not made to stand still when its turn is over. Milliseconds. */
const LAST_LOOK_MS = 10;
/** How often the processor time of a page is looked at that rests. */
const LOOK_AT_REST_MS = 100;
/** How often a page without a core is asked whether it computes, where nothing else tells. */
const ASK_AGAIN_MS = 300;

/**
 * A render's part in the cores: it has one while it computes, and none while its page waits. While it waits for a core
 * between two steps its clock stands still, since its document has no part in that. In the middle of one its page stands
 * still and the clock goes on: it has computed for longer than its turn, or at rest.
 */
export class ComputeTurn {
  readonly #cores: Cores;
  readonly #user: CoreUser;
  readonly #end: JobEnd;
  #core: Core | undefined;
  /** Cores that it takes at a time: more than one where workers compute in its page. */
  #wanted = 1;
  /** Since when it has its core, by the clock of this process. */
  #since = 0;
  /** Ends the count of what it computes without a core. */
  #endBeside: (() => void) | undefined;
  #hasRested = false;
  /** Ends the wait for the next look. */
  #lookNow: (() => void) | undefined;

  constructor(cores: Cores, user: CoreUser, end: JobEnd) {
    this.#cores = cores;
    this.#user = user;
    this.#end = end;
  }

  /**
   * Resolves when it has a core, for as long as a turn is: one that has had its turn waits for the next.
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
    this.#stopBeside();
  }

  /**
   * Waits for `step`, something that goes on in the page. The page has a core for as long as it is seen to compute; when
   * it waits, others have it. One that computes when it is at rest, or when its turn is over, stands still until it is its
   * turn again. One that starts a worker at rest is about to compute, and does so at once.
   *
   * @throws what the step rejects with; the job's error when that ends while the page stands still.
   */
  async watch<T>(page: RenderPage, step: Promise<T>): Promise<T> {
    const rest = new Rest(
      page,
      (change) => this.#cores.rest(change),
      undefined,
      () => this.#cores.restBudgetOf(this.#user),
    );
    const use = new ProcessorUse(page);
    const giveWay = async () => {
      await this.#giveWay(page, rest);
      use.forget();
      void use.look();
    };
    const look = async (over: Promise<boolean>) => {
      if (rest.resting && rest.measured) {
        if (rest.exceeded()) await giveWay();
        return;
      }
      const lastLook = this.#untilTurnOver(ANSWER_MS).then(() =>
        pause(LAST_LOOK_MS, undefined, { ref: false }),
      );
      await Promise.race([over, use.look(), lastLook]);
      if (use.waits) this.#rest(page, rest);
      else if (rest.resting) this.#goOnBeside(rest);
    };
    page.onWorker = () => {
      rest.disturb();
      this.#want(page);
      if (rest.resting || this.#isOver()) this.#lookNow?.();
    };
    try {
      await this.#whileUnderWay(step, look, giveWay);
    } finally {
      page.onWorker = () => undefined;
      use.stop();
      rest.end();
    }
    return await this.#concluded(step, page);
  }

  /**
   * Waits for `step`, which computes all the while.
   *
   * @param page that computes it, and stands still when its turn is over; without it, the step then goes on without a core.
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
    await this.#whileUnderWay(step, undefined, async () => this.#goOnBeside());
    this.leave();
    return await step;
  }

  /** Looks around again and again until `step` has settled. */
  async #whileUnderWay(
    step: Promise<unknown>,
    look: ((over: Promise<boolean>) => Promise<void>) | undefined,
    giveWay: () => Promise<void>,
  ): Promise<void> {
    const over = step.then(
      () => true,
      () => true,
    );
    while (!(await Promise.race([over, this.#untilTurnOver(this.#lookAfterMs)]))) {
      // First: one that waits gives its core away for nothing.
      await look?.(over);
      if (this.#isOver()) await giveWay();
    }
  }

  get #lookAfterMs(): number {
    if (this.#core !== undefined) return LOOK_AFTER_MS;
    return this.#endBeside === undefined ? LOOK_AT_REST_MS : ASK_AGAIN_MS;
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

  /** What is left of its turn, in milliseconds: nothing once it takes more cores than it has. */
  get #leftMs(): number {
    if (this.#core !== undefined && this.#core.count < this.#wanted) return -1;
    return this.#since + this.#cores.turnMs(this.#user) - performance.now();
  }

  /** Resolves after `ms`; sooner when its turn is over, as it can be at once when another comes for a core. */
  #untilTurnOver(ms: number): Promise<false> {
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
        const turn = this.#core === undefined ? left : this.#leftMs;
        // A turn is over when a moment more than it has passed.
        timer = setTimeout(done, Math.max(0, Math.min(left, turn + 1))).unref();
      };
      const stop = this.#cores.onWaiting(wait);
      this.#lookNow = done;
      wait();
    });
  }

  #rest(page: RenderPage, rest: Rest): void {
    this.#hasRested = true;
    this.leave();
    rest.begin();
    // It answers now. The next look finds it where a navigation has moved it.
    if (!rest.measured) void page.findProcess().then(() => rest.resting && rest.begin());
  }

  /**
   * Lets others compute who are first: the page stands still until it has a core. One that has rested before goes on
   * counting as at rest meanwhile, so that a worker takes other renders beside pages that all begin to compute at once.
   */
  async #giveWay(page: RenderPage | undefined, rest?: Rest): Promise<void> {
    if (this.#core === undefined && this.#takeIdle()) {
      rest?.end();
      return;
    }
    const process = page?.process;
    if (process === undefined || !process.pause()) {
      this.#goOnBeside(rest);
      return;
    }
    if (this.#hasRested) rest?.begin();
    try {
      await this.#queue();
    } finally {
      process.resume();
      rest?.end();
    }
  }

  /** It computes without a core: the system shares the cores among all that do. It counts for its account. */
  #goOnBeside(rest?: Rest): void {
    rest?.end();
    this.leave();
    this.#endBeside = this.#cores.countBeside(this.#user);
  }

  #stopBeside(): void {
    this.#endBeside?.();
    this.#endBeside = undefined;
  }

  #takeIdle(): boolean {
    const idle = this.#core === undefined ? this.#cores.tryTake(this.#user, this.#wanted) : undefined;
    if (idle !== undefined) this.#hold(idle);
    return idle !== undefined;
  }

  /** Waits for a core. The one that it may have goes to whoever is next then, which can be itself. */
  async #queue(): Promise<void> {
    const had = this.#core;
    this.#core = undefined;
    this.#stopBeside();
    const next = this.#cores.take(this.#user, this.#end.signal, this.#wanted);
    had?.release();
    this.#hold(await next);
  }

  #hold(core: Core): void {
    this.#stopBeside();
    this.#core = core;
    this.#since = performance.now();
  }
}
