import { Accounts } from '../accounts.ts';
import type { Cluster } from '../cluster.ts';
import { EventQueue } from '../event-queue.ts';
import type { Trace } from '../traces.ts';
import type { Scaler, ScalerOptions } from './scaler.ts';

/** Slots in use in every second of a trace if there were always enough workers. */
export function idealDemand(trace: Trace): Uint32Array {
  const events = new EventQueue();
  const seconds = new Uint32Array(Math.ceil(trace.durationMs / 1000) + 1);
  let running = 0;
  const note = () => {
    const second = Math.floor(events.now / 1000);
    if (second < seconds.length) seconds[second] = Math.max(seconds[second]!, running);
  };
  const accounts = new Accounts(trace, (job) => {
    running += 1;
    note();
    events.after(trace.jobs.service[job]!, () => {
      running -= 1;
      accounts.end(job);
    });
  });
  trace.jobs.arrival.forEach((at, job) => {
    events.at(at, () => accounts.accept(job));
  });
  for (let second = 0; second < seconds.length; second += 1) {
    events.runUntil(second * 1000);
    note();
  }
  return seconds;
}

/** Has as many pods up in every second as the work of that second needs, and orders each as long ahead as it starts. */
export class Oracle implements Scaler {
  readonly name = 'Oracle';
  readonly everyMs = 1000;
  readonly #demand: Uint32Array;
  readonly #leadSeconds: number;
  readonly #options: ScalerOptions;

  constructor(trace: Trace, demand: Uint32Array, options: ScalerOptions) {
    this.#demand = demand;
    this.#leadSeconds = Math.ceil(trace.startDelay[1] / 1000) + 1;
    this.#options = options;
  }

  /** The pods it has at a moment: enough for everything until a pod that is ordered now would be up. */
  sizeAt(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    const ahead = this.#demand.subarray(second, second + this.#leadSeconds + 1);
    const slots = ahead.reduce((most, demand) => Math.max(most, demand), 0);
    return Math.min(this.#options.maxReplicas, Math.ceil(slots / this.#options.slotsPerWorker));
  }

  tick(cluster: Cluster, nowMs: number): void {
    cluster.scaleTo(this.sizeAt(nowMs));
  }
}
