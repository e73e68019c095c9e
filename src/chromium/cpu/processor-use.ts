import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession } from 'puppeteer';

/** A page that uses less than this share of a core waits. */
const WAITS_BELOW = 0.25;
/** Time before the first sample, which the first requested check is compared with. Milliseconds. */
const FIRST_CHECK_MS = 25;
/** A page that does not respond within this time is busy. Milliseconds. */
export const RESPONSE_MS = 100;

/** A page that can be queried. */
interface AskedPage {
  readonly session: Pick<CDPSession, 'send'>;
}

/** A sample; all values are in milliseconds. */
interface Measurement {
  /** When it was taken, by `performance.now()`. */
  readonly at: number;
  /** Processor time of all threads of the renderer process. */
  readonly used: number;
  /** Time that tasks of its main thread have taken, including waits for a core. */
  readonly inTasks: number;
}

/**
 * Determines whether a page computes or waits. A response alone does not show that: a page that runs only short tasks
 * responds at once. So its main thread is judged by its time in tasks, which is long on a machine without a spare core,
 * and its other threads by the processor time of the process.
 */
export class ProcessorUse {
  readonly #page: AskedPage;
  #before: Measurement | undefined;
  /** The pending response: a busy page is queried once. */
  #asked: Promise<void> | undefined;
  #waits = false;
  #counts = false;
  readonly #firstCheck: NodeJS.Timeout;

  constructor(page: AskedPage) {
    this.#page = page;
    this.#firstCheck = setTimeout(() => void this.check(), FIRST_CHECK_MS).unref();
  }

  /** Whether the page used less than WAITS_BELOW of a core between the last two samples. */
  get waits(): boolean {
    return this.#waits;
  }

  /** Takes a sample of the page. Never rejects. */
  async check(): Promise<void> {
    let responded = false;
    this.#asked ??= this.#read().then(
      (sample) => this.#note(sample),
      // Between two documents there is no response.
      () => undefined,
    );
    const asked = this.#asked.then(() => {
      responded = true;
      this.#asked = undefined;
    });
    await Promise.race([asked, pause(RESPONSE_MS, undefined, { ref: false })]);
    if (!responded) this.#waits = false;
  }

  /** Discards the last sample, because the page has been stopped since. */
  forget(): void {
    this.#before = undefined;
    this.#waits = false;
  }

  #note(sample: Measurement): void {
    const before = this.#before;
    this.#before = sample;
    if (before === undefined) return;
    const busy = Math.max(sample.used - before.used, sample.inTasks - before.inTasks);
    this.#waits = busy < (sample.at - before.at) * WAITS_BELOW;
  }

  /** Stops sampling. */
  stop(): void {
    clearTimeout(this.#firstCheck);
    if (this.#counts) this.#page.session.send('Performance.disable').catch(() => undefined);
  }

  async #read(): Promise<Measurement> {
    const { session } = this.#page;
    const counting = this.#counts || session.send('Performance.enable');
    this.#counts = true;
    const [, { metrics }] = await Promise.all([counting, session.send('Performance.getMetrics')]);
    const milliseconds = (wanted: string) => 1000 * (metrics.find(({ name }) => name === wanted)?.value ?? 0);
    return {
      at: performance.now(),
      used: milliseconds('ProcessTime'),
      inTasks: milliseconds('TaskDuration'),
    };
  }
}
