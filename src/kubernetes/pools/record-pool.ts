import type { ControllerMetrics } from '../controller-metrics.ts';
import type { RenderPoolSpec } from '../resources/render-pool.ts';
import type { PoolPlan } from './plan-pool.ts';

const HOLDS = ['Paused', 'NoReading', 'StaleReading'] as const;

/** Writes the observed state and the decision of a pool into the gauges. */
export function recordPool(
  metrics: ControllerMetrics,
  pool: string,
  { maxReplicas }: RenderPoolSpec,
  plan: PoolPlan,
): void {
  const { fleet, decision } = plan;
  metrics.desiredReplicas.set({ pool }, plan.replicas);
  metrics.replicas.set({ pool }, fleet.pods.filter(({ phase }) => phase !== 'terminating').length);
  metrics.readyReplicas.set({ pool }, fleet.pods.filter(({ phase }) => phase === 'ready').length);
  metrics.maxReplicas.set({ pool }, maxReplicas);
  for (const reason of HOLDS) metrics.hold.set({ pool, reason }, decision.hold === reason ? 1 : 0);
  metrics.wrongVictims.inc({ pool }, plan.wrongVictims.length);
}

/** Removes a deleted pool from the gauges. */
export function removePool(metrics: ControllerMetrics, pool: string): void {
  for (const gauge of [
    metrics.desiredReplicas,
    metrics.replicas,
    metrics.readyReplicas,
    metrics.maxReplicas,
    metrics.notApplied,
  ]) {
    gauge.remove({ pool });
  }
  for (const reason of HOLDS) metrics.hold.remove({ pool, reason });
}
