import type { ProcessorSample } from '../contexts/page/page-process.ts';

/** A page that uses less than this share of a core waits. */
const WAITS_BELOW = 0.25;
/** Time before the first sample, which the first requested check is compared with. Milliseconds. */
const FIRST_SAMPLE_MS = 25;

/** A page that can be sampled while its process is known. */
interface SampledPage {
  readonly process: { sample(): ProcessorSample | undefined } | undefined;
}

/**
 * Determines whether a page computes or waits. Its main thread is judged by the time for which it ran or waited for a
 * core, which is long on a machine without a spare core, and its other threads by the processor time of the process.
 */
export class ProcessorUse {
  readonly #page: SampledPage;
  readonly #now: () => number;
  readonly #firstSample: NodeJS.Timeout;
  #before: ProcessorSample | undefined;
  #at = 0;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(page: SampledPage, now: () => number = () => performance.now()) {
    this.#page = page;
    this.#now = now;
    this.#firstSample = setTimeout(() => void this.waits(), FIRST_SAMPLE_MS).unref();
  }

  /**
   * Whether the page has used less than WAITS_BELOW of a core since the last call. False if its process is unknown, or
   * has not been sampled before.
   */
  waits(): boolean {
    const [before, at] = [this.#before, this.#at];
    const sample = this.#page.process?.sample();
    this.#before = sample;
    this.#at = this.#now();
    if (before === undefined || sample?.pid !== before.pid) return false;
    const busy = Math.max(
      sample.processorMs - before.processorMs - sample.resolutionMs,
      sample.mainThreadMs - before.mainThreadMs,
    );
    return busy < (this.#at - at) * WAITS_BELOW;
  }

  /** Begins anew, because the page has been stopped since the last sample. */
  restart(): void {
    this.#before = undefined;
    this.waits();
  }

  /** Ends the sampling. */
  stop(): void {
    clearTimeout(this.#firstSample);
  }
}
