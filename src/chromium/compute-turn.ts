import { setTimeout as pause } from 'node:timers/promises';
import type { Core, Cores, CoreUser } from './cores.ts';
import type { JobEnd } from './job-end.ts';
import { ProcessorUse } from './page/processor-use.ts';
import type { RenderPage } from './page/render-page.ts';

/** A step that is done by then is not looked at: most are. Milliseconds. */
const LOOK_AFTER_MS = 50;
/** How often a page is looked at that has no core. */
const LOOK_AGAIN_MS = 300;

/**
 * A render's part in the cores: it has one while it computes, and none while its page waits. While it waits for a core
 * its clock stands still, since its document has no part in that.
 */
export class ComputeTurn {
  readonly #cores: Cores;
  readonly #user: CoreUser;
  readonly #end: JobEnd;
  #core: Core | undefined;
  /** Since when it has its core, by the clock of this process. */
  #since = 0;
  /** Ends the count of what it computes without a core. */
  #endBeside: (() => void) | undefined;

  constructor(cores: Cores, user: CoreUser, end: JobEnd) {
    this.#cores = cores;
    this.#user = user;
    this.#end = end;
  }

  /**
   * Resolves when it has a core, for as long as a turn is: one that has had its turn waits for the next.
   *
   * @throws the job's error when that ends first.
   */
  async take(): Promise<void> {
    if (this.#core !== undefined && !this.#isOver()) return;
    this.#endBeside?.();
    this.#endBeside = undefined;
    const idle = this.#core === undefined ? this.#cores.tryTake(this.#user) : undefined;
    if (idle === undefined) await this.#queue();
    else this.#hold(idle);
  }

  /** Gives its core back, if it has one. */
  leave(): void {
    this.#core?.release();
    this.#core = undefined;
    this.#endBeside?.();
    this.#endBeside = undefined;
  }

  /**
   * Waits for `step`, something that goes on in the page, and keeps the core for as long as the page is seen to compute.
   * See `keep` for one that computes for longer than a turn.
   *
   * @throws what the step rejects with.
   */
  async watch<T>(page: RenderPage, step: Promise<T>): Promise<T> {
    const use = new ProcessorUse(page);
    let resting = false;
    const rest = (now: boolean) => {
      if (now !== resting) this.#cores.rest(now ? 1 : -1);
      resting = now;
    };
    await this.#whileUnderWay(step, async (over) => {
      await Promise.race([over, use.look()]);
      rest(use.waits);
      if (use.waits) this.leave();
    });
    use.stop();
    rest(false);
    return await this.#concluded(step);
  }

  /**
   * Waits for `step`, which computes all the while, wherever that is. When its turn is over and others wait for a core, it
   * goes on without: the system shares the cores among all that compute, and it counts for its account.
   *
   * @throws what the step rejects with.
   */
  async keep<T>(step: Promise<T>): Promise<T> {
    await this.#whileUnderWay(step, async () => undefined);
    return await this.#concluded(step);
  }

  /**
   * The same for the last step, after which it has no core.
   *
   * @throws what the step rejects with.
   */
  async keepToTheEnd<T>(step: Promise<T>): Promise<T> {
    await this.#whileUnderWay(step, async () => undefined);
    this.leave();
    return await step;
  }

  /** Looks around again and again until `step` has settled. */
  async #whileUnderWay(
    step: Promise<unknown>,
    look: (over: Promise<boolean>) => Promise<void>,
  ): Promise<void> {
    const over = step.then(
      () => true,
      () => true,
    );
    for (;;) {
      const ms = this.#core === undefined ? LOOK_AGAIN_MS : LOOK_AFTER_MS;
      if (await Promise.race([over, pause(ms, false, { ref: false })])) return;
      if (this.#core !== undefined && this.#isOver()) this.#goOnBeside();
      await look(over);
    }
  }

  /** The next step begins with a core, whatever came of this one. */
  async #concluded<T>(step: Promise<T>): Promise<T> {
    const value = await step;
    await this.take();
    return value;
  }

  #isOver(): boolean {
    return performance.now() - this.#since > this.#cores.turnMs(this.#user);
  }

  #goOnBeside(): void {
    this.leave();
    this.#endBeside = this.#cores.countBeside(this.#user);
  }

  /** Waits for a core. The one that it may have goes to whoever is next then, which can be itself. */
  async #queue(): Promise<void> {
    const had = this.#core;
    this.#core = undefined;
    this.#end.stopClock();
    try {
      const next = this.#cores.take(this.#user, this.#end.signal);
      had?.release();
      this.#hold(await next);
    } finally {
      this.#end.startClock();
    }
  }

  #hold(core: Core): void {
    this.#core = core;
    this.#since = performance.now();
  }
}
