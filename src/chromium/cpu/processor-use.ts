import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession } from 'puppeteer';

/** A page that uses less than this share of a core waits. */
const WAITS_BELOW = 0.25;
/** It is first looked at after so long, to have something to compare the first look with that is asked for. Milliseconds. */
const FIRST_CHECK_MS = 25;
/** A page that does not answer in this time is busy. Milliseconds. */
export const RESPONSE_MS = 100;

/** A page that can be asked. */
export interface AskedPage {
  readonly session: Pick<CDPSession, 'send'>;
}

/** Milliseconds, all of them. */
interface measurement {
  /** By the clock of this process. */
  readonly at: number;
  /** Processor time of all threads of the renderer process. */
  readonly used: number;
  /** Time that tasks of its main thread have taken, whether or not a core was free for them. */
  readonly inTasks: number;
}

/**
 * Whether a page computes or waits. An answer alone does not tell: a page that does nothing but short tasks answers at
 * once. So its main thread is judged by the time in tasks, which is long on a machine that has no core to spare, and its
 * other threads by the processor time of the process.
 */
export class ProcessorUse {
  readonly #page: AskedPage;
  #before: measurement | undefined;
  /** Of an answer that has not come yet: a busy page is asked once. */
  #asked: Promise<void> | undefined;
  #waits = false;
  #counts = false;
  readonly #firstCheck: NodeJS.Timeout;

  constructor(page: AskedPage) {
    this.#page = page;
    this.#firstCheck = setTimeout(() => void this.check(), FIRST_CHECK_MS).unref();
  }

  /** As of the last look: whether it has used next to nothing since the look before. */
  get waits(): boolean {
    return this.#waits;
  }

  /** Looks at the page. Never rejects. */
  async check(): Promise<void> {
    let responded = false;
    this.#asked ??= this.#read().then(
      (sample) => this.#note(sample),
      // Between two documents nobody answers.
      () => undefined,
    );
    const asked = this.#asked.then(() => {
      responded = true;
      this.#asked = undefined;
    });
    await Promise.race([asked, pause(RESPONSE_MS, undefined, { ref: false })]);
    if (!responded) this.#waits = false;
  }

  /** What has been read so far does not count any more: the page has stood still. */
  forget(): void {
    this.#before = undefined;
    this.#waits = false;
  }

  #note(sample: measurement): void {
    const before = this.#before;
    this.#before = sample;
    if (before === undefined) return;
    const busy = Math.max(sample.used - before.used, sample.inTasks - before.inTasks);
    this.#waits = busy < (sample.at - before.at) * WAITS_BELOW;
  }

  /** Nothing is counted any more. */
  stop(): void {
    clearTimeout(this.#firstCheck);
    if (this.#counts) this.#page.session.send('Performance.disable').catch(() => undefined);
  }

  async #read(): Promise<measurement> {
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
