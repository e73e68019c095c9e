import type { Page } from 'puppeteer';
import { Cluster } from 'puppeteer-cluster';
import concurrency, {
  type JobInstance,
  type WorkerInstance,
} from 'puppeteer-cluster/dist/concurrency/ConcurrencyImplementation.js';

/** A cluster job's time-out, in milliseconds: setTimeout's limit. Our own deadline ends renders. */
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

/** What a cluster job that has begun is waiting for; `undefined` ends it without work. */
type Start = (work: (() => Promise<void>) | undefined) => void;

/**
 * Runs renders as cluster jobs, one cluster job per render, and never through a cluster's queue.
 *
 * A cluster starts at most one job in 10 ms, by a timer, whatever it has to run them. So every cluster has one worker
 * and begins its next job ahead, which then stands by for the next render; and there are more clusters than seats,
 * so that one stands by while others are between two jobs.
 */
export class SeatLanes {
  readonly #clusters: readonly Cluster<undefined, void>[];
  /** Begun jobs that stand by; the one that has waited longest is used first. */
  readonly #standing = new Set<Start>();
  readonly #wanted: (() => void)[] = [];
  #closed = false;

  private constructor(clusters: readonly Cluster<undefined, void>[]) {
    this.#clusters = clusters;
    for (const cluster of clusters) void this.#standBy(cluster);
  }

  /** @param seats renders at a time. */
  static async launch(seats: number): Promise<SeatLanes> {
    const launching = Array.from({ length: seats * 2 + 2 }, () =>
      Cluster.launch({
        concurrency: SeatConcurrency,
        maxConcurrency: 1,
        timeout: NEVER_MS,
        // Asked for by the cluster, and unused: it launches nothing.
        puppeteer: {},
      }),
    );
    return new SeatLanes(await Promise.all(launching));
  }

  /** Runs `work`, which reports its own failure and never rejects. There must be a seat free. */
  async run(work: () => Promise<void>): Promise<void> {
    while (this.#standing.size === 0) {
      await new Promise<void>((resolve) => this.#wanted.push(resolve));
    }
    const [start] = this.#standing;
    this.#standing.delete(start!);
    await new Promise<void>((resolve) => start!(() => work().finally(resolve)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const start of this.#standing) start(undefined);
    this.#standing.clear();
    await Promise.all(this.#clusters.map((cluster) => cluster.close()));
  }

  /** Has a cluster begin one job after the other, each to wait for a render. */
  async #standBy(cluster: Cluster<undefined, void>): Promise<void> {
    while (!this.#closed) {
      let standing: Start | undefined;
      const job = async () => {
        if (this.#closed) return;
        const work = await new Promise<(() => Promise<void>) | undefined>((resolve) => {
          standing = resolve;
          this.#standing.add(resolve);
          this.#wanted.shift()?.();
        });
        await work?.();
      };
      // It can fail by its time-out alone, after weeks of standing by.
      await cluster.execute(job).catch(() => undefined);
      if (standing) this.#standing.delete(standing);
    }
  }
}
