import { setTimeout as pause } from 'node:timers/promises';
import type { Cores } from './cores.ts';
import type { JobEnd } from './job-end.ts';
import { ProcessorUse } from './page/processor-use.ts';
import type { RenderPage } from './page/render-page.ts';
import type { RenderClass } from './renderer.ts';

/** A step that is done by then is not looked at: most are. Milliseconds. */
const LOOK_AFTER_MS = 50;
/** How often a page is looked at that has no core. */
const LOOK_AGAIN_MS = 300;
/** After so long a render lets others compute beside it who wait for a core. Milliseconds. */
const TURN_MS = 1000;

/**
 * A render's part in the cores: it has one while it computes, and none while its page waits. While it waits for a core
 * its clock stands still, since its document has no part in that.
 */
export class ComputeTurn {
  readonly #cores: Cores;
  readonly #class: RenderClass;
  readonly #end: JobEnd;
  #has = false;

  constructor(cores: Cores, renderClass: RenderClass, end: JobEnd) {
    this.#cores = cores;
    this.#class = renderClass;
    this.#end = end;
  }

  /** Resolves when it has a core. @throws the job's error when that ends first. */
  async take(): Promise<void> {
    if (this.#has) return;
    if (!this.#cores.tryTake()) {
      this.#end.stopClock();
      await this.#cores.take(this.#class, this.#end.signal).finally(() => this.#end.startClock());
    }
    this.#has = true;
  }

  /** Gives its core back, if it has one. */
  leave(): void {
    if (!this.#has) return;
    this.#has = false;
    this.#cores.release();
  }

  /**
   * Waits for `step`, something that goes on in the page, and keeps the core for as long as the page is seen to compute.
   * One that computes for longer than a turn goes on without: the system shares the cores among all that compute.
   *
   * @throws what the step rejects with.
   */
  async watch<T>(page: RenderPage, step: Promise<T>): Promise<T> {
    const over = step.then(
      () => true,
      () => true,
    );
    const use = new ProcessorUse(page);
    const began = performance.now();
    let resting = false;
    const rest = (now: boolean) => {
      if (now !== resting) this.#cores.rest(now ? 1 : -1);
      resting = now;
    };
    for (;;) {
      const ms = this.#has ? LOOK_AFTER_MS : LOOK_AGAIN_MS;
      if (await Promise.race([over, pause(ms, false, { ref: false })])) break;
      if (await Promise.race([over, use.look().then(() => false)])) break;
      rest(use.waits);
      const hadItsTurn = this.#cores.wanted && performance.now() - began > TURN_MS;
      if (use.waits || hadItsTurn) this.leave();
    }
    use.stop();
    rest(false);
    const value = await step;
    await this.take();
    return value;
  }
}
