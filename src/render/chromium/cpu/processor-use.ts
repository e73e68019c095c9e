import type { CDPSession } from 'puppeteer';
import type { ProcessorSample } from '../page/page-process.ts';
import { TICK_MS } from '../process/processes.ts';

/** A page that uses less than this share of a core waits. */
const WAITS_BELOW = 0.25;
/** Time before the first sample, which the first requested check is compared with. Milliseconds. */
const FIRST_SAMPLE_MS = 25;

/** A page that can be sampled while its process is known. */
interface SampledPage {
  readonly session: Pick<CDPSession, 'send'>;
  readonly process: { sample(): ProcessorSample | undefined } | undefined;
}

type TimedSample = ProcessorSample & { readonly at: number };

/**
 * Determines whether a page computes or waits. Its main thread is judged by the time for which it ran or waited for a
 * core, which is long on a machine without a spare core, and its other threads by the processor time of the process.
 */
export class ProcessorUse {
  readonly #page: SampledPage;
  readonly #now: () => number;
  readonly #firstSample: NodeJS.Timeout;
  #asked: Promise<void> | undefined;
  #hasResponded = false;
  #last: TimedSample | undefined;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(page: SampledPage, now: () => number = () => performance.now()) {
    this.#page = page;
    this.#now = now;
    this.#firstSample = setTimeout(() => this.#begin(), FIRST_SAMPLE_MS).unref();
  }

  /** Whether the page has used less than WAITS_BELOW of a core since the last call; false if that is unknown. */
  waits(): boolean {
    if (!this.#hasResponded) {
      this.#begin();
      return false;
    }
    const before = this.#last;
    const last = this.#takeSample();
    // A thread that has waited for a core all the time shows in no count, and is runnable.
    if (before === undefined || last?.pid !== before.pid || last.runnable) return false;
    const busy = Math.max(
      // Beyond its resolution.
      last.processorMs - before.processorMs - TICK_MS,
      last.mainThreadMs - before.mainThreadMs,
    );
    return busy < (last.at - before.at) * WAITS_BELOW;
  }

  /**
   * Takes the first sample when the main thread has responded, and so has begun with what was sent to it before: on a busy
   * machine it gets its document late, and does not wait for anything else until then.
   */
  #begin(): void {
    // Unlike some commands, this one does not interrupt a script.
    this.#asked ??= this.#page.session.send('Runtime.getIsolateId').then(
      () => {
        this.#hasResponded = true;
        this.#takeSample();
      },
      // Between two documents there is no response.
      () => {
        this.#asked = undefined;
      },
    );
  }

  /** Begins anew, because the page has been stopped since the last sample. */
  restart(): void {
    this.#takeSample();
  }

  stop(): void {
    clearTimeout(this.#firstSample);
  }

  #takeSample(): TimedSample | undefined {
    const sample = this.#page.process?.sample();
    this.#last = sample && { ...sample, at: this.#now() };
    return this.#last;
  }
}
