/**
 * HorizontalPodAutoscaler v2 as `pkg/controller/podautoscaler` computes it: `replica_calculator.go` for the
 * recommendation, `horizontal.go` for stabilisation and rate.
 */

export interface ScalingPolicy {
  readonly type: 'Pods' | 'Percent';
  readonly value: number;
  readonly periodSeconds: number;
}

export interface ScalingRules {
  readonly stabilizationWindowSeconds: number;
  /** The one that allows the larger change decides (`selectPolicy: Max`). */
  readonly policies: readonly ScalingPolicy[];
}

export interface HpaBehaviour {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly scaleUp: ScalingRules;
  readonly scaleDown: ScalingRules;
}

export const HPA_SYNC_MS = 15_000;
export const HPA_TOLERANCE = 0.1;

/** What an HPA without `behavior` does. */
export function defaultBehaviour(maxReplicas: number): HpaBehaviour {
  return {
    minReplicas: 1,
    maxReplicas,
    scaleUp: {
      stabilizationWindowSeconds: 0,
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    },
    scaleDown: {
      stabilizationWindowSeconds: 300,
      policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
    },
  };
}

/** `GetExternalPerPodMetricReplicas`: for a metric with a target of type AverageValue. */
export function perPodRecommendation(metric: number, target: number, statusReplicas: number): number {
  const ratio = metric / (target * statusReplicas);
  return Math.abs(1 - ratio) > HPA_TOLERANCE ? Math.ceil(metric / target - 1e-9) : statusReplicas;
}

interface Recommendation {
  readonly at: number;
  readonly replicas: number;
}

interface ScaleEvent {
  readonly at: number;
  readonly change: number;
}

/** Turns recommendations into replicas: stabilisation windows first, then rates, then bounds. */
export class HpaStabiliser {
  readonly #behaviour: HpaBehaviour;
  #recommendations: Recommendation[] = [];
  #events: ScaleEvent[] = [];

  constructor(behaviour: HpaBehaviour) {
    this.#behaviour = behaviour;
  }

  /** @param current `spec.replicas` at the moment. */
  next(current: number, recommended: number, nowMs: number): number {
    this.#seed(current, nowMs);
    const stabilised = this.#stabilise(current, recommended, nowMs);
    const replicas = this.#limitRate(current, stabilised, nowMs);
    if (replicas !== current) this.#events.push({ at: nowMs, change: replicas - current });
    return replicas;
  }

  /** The first thing recorded is the size that is there (`recordInitialRecommendation`). */
  #seed(current: number, nowMs: number): void {
    if (this.#recommendations.length === 0) this.#recommendations.push({ at: nowMs, replicas: current });
  }

  #stabilise(current: number, recommended: number, nowMs: number): number {
    const { scaleUp, scaleDown } = this.#behaviour;
    const within = (seconds: number) =>
      this.#recommendations.filter(({ at }) => at > nowMs - seconds * 1000).map(({ replicas }) => replicas);
    const lowest = Math.min(recommended, ...within(scaleUp.stabilizationWindowSeconds));
    const highest = Math.max(recommended, ...within(scaleDown.stabilizationWindowSeconds));
    const longest = Math.max(scaleUp.stabilizationWindowSeconds, scaleDown.stabilizationWindowSeconds);
    this.#recommendations = this.#recommendations.filter(({ at }) => at > nowMs - longest * 1000);
    this.#recommendations.push({ at: nowMs, replicas: recommended });
    return Math.min(highest, Math.max(lowest, current));
  }

  #limitRate(current: number, wanted: number, nowMs: number): number {
    const { minReplicas, maxReplicas, scaleUp, scaleDown } = this.#behaviour;
    this.#events = this.#events.filter(({ at }) => at > nowMs - 1_800_000);
    if (wanted > current) {
      const limits = scaleUp.policies.map((policy) => this.#limitUp(policy, current, nowMs));
      return Math.min(wanted, maxReplicas, Math.max(current, ...limits));
    }
    const limits = scaleDown.policies.map((policy) => this.#limitDown(policy, current, nowMs));
    return Math.max(wanted, minReplicas, Math.min(current, ...limits));
  }

  #limitUp({ type, value, periodSeconds }: ScalingPolicy, current: number, nowMs: number): number {
    const before = this.#before(current, periodSeconds, nowMs);
    return type === 'Pods' ? before + value : Math.ceil(before * (1 + value / 100) - 1e-9);
  }

  #limitDown({ type, value, periodSeconds }: ScalingPolicy, current: number, nowMs: number): number {
    const before = this.#before(current, periodSeconds, nowMs);
    return type === 'Pods' ? before - value : Math.floor(before * (1 - value / 100) + 1e-9);
  }

  /** Replicas at the beginning of a period. */
  #before(current: number, periodSeconds: number, nowMs: number): number {
    const recent = this.#events.filter(({ at }) => at > nowMs - periodSeconds * 1000);
    return current - recent.reduce((sum, { change }) => sum + change, 0);
  }
}
