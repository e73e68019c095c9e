import type { Page } from 'puppeteer';
import { Cluster } from 'puppeteer-cluster';
import concurrency, {
  type JobInstance,
  type WorkerInstance,
} from 'puppeteer-cluster/dist/concurrency/ConcurrencyImplementation.js';

/** A cluster job's time-out, in milliseconds, longer than any render: our own deadline ends renders (setTimeout's limit). */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Puppeteer-cluster's part: a seat for one render at a time. Browsers, contexts and pages are the pool's, which knows
 * the account that a job is for; the cluster does not. So a seat has nothing that could fail, and the cluster's own
 * ways of launching, repairing and timing out, each of which loses workers, are never entered.
 */
class SeatConcurrency extends concurrency.default {
  async init(): Promise<void> {}
  async close(): Promise<void> {}

  async workerInstance(): Promise<WorkerInstance> {
    // All that a cluster does with a page of its own is to listen for its errors.
    const page = { on: () => undefined } as unknown as Page;
    const job: JobInstance = { resources: { page }, close: async () => undefined };
    return { jobInstance: async () => job, close: async () => undefined, repair: async () => undefined };
  }
}

interface Lane {
  readonly cluster: Cluster<undefined, void>;
  busy: boolean;
  restedSince: number;
}

/**
 * Runs renders as cluster jobs, one cluster job per render, and never through a cluster's queue: a job is only handed
 * to a cluster that stands idle.
 *
 * A cluster starts at most one job in 10 ms, whatever it has to run them, and counts its own idle looks for work. One
 * cluster for all seats would hold every render up by 5 ms on average, and a pool at 50 renders a second by more than
 * that. So every seat is a cluster of one worker, and there are more of them than seats: the one that has rested
 * longest starts its job at once.
 */
export class SeatLanes {
  readonly #lanes: Lane[];

  private constructor(lanes: Lane[]) {
    this.#lanes = lanes;
  }

  static async launch(seats: number): Promise<SeatLanes> {
    const launching = Array.from({ length: seats * 2 + 2 }, async () => {
      const cluster: Cluster<undefined, void> = await Cluster.launch({
        concurrency: SeatConcurrency,
        maxConcurrency: 1,
        timeout: NEVER_MS,
        // Asked for by the cluster, and unused: it launches nothing.
        puppeteer: {},
      });
      // The cluster makes its worker with its first job.
      await cluster.execute(async () => undefined);
      return { cluster, busy: false, restedSince: Date.now() };
    });
    return new SeatLanes(await Promise.all(launching));
  }

  /** Runs `work`, which reports its own failure and never rejects. There must be a seat free. */
  async run(work: () => Promise<void>): Promise<void> {
    const lane = this.#rested();
    lane.busy = true;
    try {
      await lane.cluster.execute(work);
    } finally {
      lane.busy = false;
      lane.restedSince = Date.now();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map(({ cluster }) => cluster.close()));
  }

  #rested(): Lane {
    const free = this.#lanes.filter(({ busy }) => !busy).sort((a, b) => a.restedSince - b.restedSince);
    if (!free[0]) throw new Error('A render was started without a seat.');
    return free[0];
  }
}
