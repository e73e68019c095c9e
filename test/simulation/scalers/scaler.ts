import type { Cluster } from '../cluster.ts';

/** Looks at a cluster every so often, and sizes it. */
export interface Scaler {
  readonly name: string;
  readonly everyMs: number;
  tick(cluster: Cluster, nowMs: number): void;
}

/** What all are given alike. */
export interface ScalerOptions {
  readonly maxReplicas: number;
  readonly slotsPerWorker: number;
}
