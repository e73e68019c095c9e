import type { RenderBrowser } from './browser.ts';

/** Checks in a row without work after which browsers rest. What a document has left behind shows within so many. */
const AWAKE_CHECKS = 10;
/** At rest, one of so many checks is made. */
const RESTING_CHECKS = 10;

/** What a browser does at the moment, and how much it has done. */
type Work = Pick<RenderBrowser, 'pid' | 'busy' | 'jobs' | 'group' | 'retiring' | 'drain'>;

/**
 * Decides which of the checks of a second are made. Without renders nothing in a browser changes, and reading what its
 * processes use took a quarter of what an idle worker used of its processor.
 */
export class CheckRhythm {
  #quiet = 0;
  #seen = '';

  /** To be called once a check. @returns whether it is to be made: at rest, seldom. */
  due(browsers: readonly Work[]): boolean {
    // A render that has begun and ended since the last check is a change.
    const seen = browsers.map(({ pid, jobs }) => `${pid} ${jobs}`).join();
    const working = browsers.some(
      ({ busy, group, retiring, drain }) =>
        busy > 0 || group !== undefined || retiring || drain !== undefined,
    );
    if (working || seen !== this.#seen) this.wake();
    this.#seen = seen;
    const quiet = this.#quiet++;
    return quiet <= AWAKE_CHECKS || (quiet - AWAKE_CHECKS) % RESTING_CHECKS === 0;
  }

  /** Has the next checks made: there is something to be watched. */
  wake(): void {
    this.#quiet = 0;
  }
}
