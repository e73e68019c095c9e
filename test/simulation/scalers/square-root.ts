import type { Cluster } from '../cluster.ts';
import type { Scaler, ScalerOptions } from './scaler.ts';

/** Slots for an offered load of R = arrival rate × service time (Halfin and Whitt): R + β √R. */
export function squareRootSlots(load: number, beta: number): number {
  return Math.ceil(load + beta * Math.sqrt(load) - 1e-9);
}

/** Mean service time of the traces, which an operator would have measured. */
const MEAN_SERVICE_MS = 1950;
/** The arrival rate is smoothed over a minute. */
const SMOOTHING_MS = 60_000;

/** Sizes from the rate of arrivals alone; it never looks at what waits. */
export class SquareRoot implements Scaler {
  readonly name: string;
  readonly everyMs = 2000;
  readonly #beta: number;
  readonly #options: ScalerOptions;
  #rate: number | undefined;
  #arrived = 0;

  constructor(beta: number, options: ScalerOptions) {
    this.name = `Square root, β ${beta}`;
    this.#beta = beta;
    this.#options = options;
  }

  tick(cluster: Cluster, nowMs: number): void {
    if (nowMs === 0) return;
    const rate = (cluster.arrived - this.#arrived) / this.everyMs;
    this.#arrived = cluster.arrived;
    const weight = 1 - Math.exp(-this.everyMs / SMOOTHING_MS);
    const { maxReplicas, slotsPerWorker } = this.#options;
    // Before there is a rate the size that is there stands in for it.
    this.#rate ??= (cluster.replicas * slotsPerWorker) / MEAN_SERVICE_MS;
    this.#rate += weight * (rate - this.#rate);
    const slots = squareRootSlots(this.#rate * MEAN_SERVICE_MS, this.#beta);
    cluster.scaleTo(Math.min(maxReplicas, Math.ceil(slots / slotsPerWorker)));
  }
}
