import type { Cluster } from '../cluster.ts';
import { defaultBehaviour, HPA_SYNC_MS, HpaStabiliser, perPodRecommendation } from './hpa.ts';
import type { Scaler, ScalerOptions } from './scaler.ts';

/** A ScaledObject with one trigger of type AverageValue and `minReplicaCount: 0`. */
export interface ScaledObject {
  readonly name: string;
  readonly pollingIntervalMs: number;
  readonly cooldownPeriodMs: number;
  /** `advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.stabilizationWindowSeconds`; the HPA's 300 without it. */
  readonly stabilisationSeconds?: number;
  /** The metric's value for each replica. */
  readonly threshold: number;
  readonly metric: (cluster: Cluster) => number;
}

/** The lag that KEDA's Kafka trigger reports: as much as would need a consumer for every partition, and no more. */
export function boundedLag(lag: number, threshold: number, partitions: number): number {
  return lag / threshold > partitions ? partitions * threshold : lag;
}

/** KEDA: its own loop between none and one (`scale_scaledobjects.go`), and the HPA that it makes above that. */
export class Keda implements Scaler {
  readonly name: string;
  readonly everyMs: number;
  readonly #object: ScaledObject;
  readonly #hpa: HpaStabiliser;
  #lastActiveAt = 0;
  #nextSyncAt = 0;
  #nextPollAt = 0;

  constructor(object: ScaledObject, { maxReplicas }: ScalerOptions) {
    this.name = object.name;
    this.everyMs = Math.min(object.pollingIntervalMs, HPA_SYNC_MS);
    this.#object = object;
    const behaviour = defaultBehaviour(maxReplicas);
    const { stabilisationSeconds = behaviour.scaleDown.stabilizationWindowSeconds } = object;
    this.#hpa = new HpaStabiliser({
      ...behaviour,
      scaleDown: { ...behaviour.scaleDown, stabilizationWindowSeconds: stabilisationSeconds },
    });
  }

  tick(cluster: Cluster, nowMs: number): void {
    if (nowMs >= this.#nextPollAt) {
      this.#nextPollAt = nowMs + this.#object.pollingIntervalMs;
      cluster.scaleTo(this.polled(cluster.replicas, this.#object.metric(cluster), nowMs));
    }
    if (nowMs < this.#nextSyncAt) return;
    this.#nextSyncAt = nowMs + HPA_SYNC_MS;
    cluster.scaleTo(this.synced(cluster.replicas, this.#object.metric(cluster), nowMs));
  }

  /** KEDA's own loop: from none to one while there is anything, to none when there has been nothing for the cooldown. */
  polled(replicas: number, metric: number, nowMs: number): number {
    if (metric > 0) {
      this.#lastActiveAt = nowMs;
      return Math.max(1, replicas);
    }
    return this.#lastActiveAt + this.#object.cooldownPeriodMs < nowMs ? 0 : replicas;
  }

  /** The HPA, which leaves a target alone that stands at zero. */
  synced(replicas: number, metric: number, nowMs: number): number {
    if (replicas === 0) return 0;
    const recommended = perPodRecommendation(metric, this.#object.threshold, replicas);
    return this.#hpa.next(replicas, recommended, nowMs);
  }
}
