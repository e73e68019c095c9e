import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../infra/telemetry/logger.ts';
import type { WorkerRegistry, WorkerReport } from '../work/pools/worker-registry.ts';

/** A change is reported within this time, and never more often. Milliseconds. */
const CHANGES_EVERY_MS = 1000;
/**
 * Interval of reports without a change, in milliseconds: a third of the time after which a worker no longer counts as
 * seen. It is also the longest delay of a request to the worker.
 */
const REPORT_EVERY_MS = 3000;

interface PresenceDeps {
  readonly registry: Pick<WorkerRegistry, 'report' | 'remove'>;
  /** Returns the current report. */
  readonly describe: () => WorkerReport;
  /** Called with whether the worker may claim, when that changes; resolves when the change has been made. */
  readonly follow: (mayClaim: boolean) => Promise<void>;
  readonly logger: Logger;
}

/**
 * Keeps a worker's record in the registry up to date, and follows the requests in it. While the database cannot be
 * reached the worker keeps its state: it can claim nothing then.
 */
export class WorkerPresence {
  readonly #deps: PresenceDeps;
  readonly #stopped = new AbortController();
  /** The last report, and its time by `performance.now()`. */
  #reported: { readonly report: WorkerReport; readonly at: number } | undefined;
  #mayClaim = true;
  #failing = false;
  #running: Promise<void> | undefined;

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
  }

  /** Resolves when the worker is in the registry. @throws when the database cannot be reached. */
  async start(): Promise<void> {
    await this.#report();
    this.#running = this.#run();
  }

  /** Reports at once, if the database can be reached. */
  async reportNow(): Promise<void> {
    await this.#report().catch((error: unknown) => this.#note(error));
  }

  /** Removes the ended worker from the registry, if the database can be reached. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    await this.#deps.registry.remove(this.#deps.describe()._id).catch((error: unknown) => this.#note(error));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await sleep(CHANGES_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted && this.#isDue()) await this.reportNow();
    }
  }

  #isDue(): boolean {
    if (this.#reported === undefined) return true;
    const { report, at } = this.#reported;
    return performance.now() - at >= REPORT_EVERY_MS || !isDeepStrictEqual(report, this.#deps.describe());
  }

  async #report(): Promise<void> {
    const report = this.#deps.describe();
    const { pauseRequested, drainRequested = false } = await this.#deps.registry.report(report);
    const mayClaim = !pauseRequested && !drainRequested;
    this.#reported = { report, at: performance.now() };
    this.#failing = false;
    if (mayClaim === this.#mayClaim) return;
    await this.#deps.follow(mayClaim);
    this.#mayClaim = mayClaim;
    this.#deps.logger.info({ mayClaim: this.#mayClaim }, 'the worker was asked to claim, or not to');
  }

  #note(error: unknown): void {
    if (!this.#failing) this.#deps.logger.warn({ err: error }, 'the worker could not report itself');
    this.#failing = true;
  }
}
