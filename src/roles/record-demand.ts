import { JOB_CLASSES, type JobClass } from '../bus/bus.ts';
import type { Demand } from '../jobs/demand.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Jobs that hold a slot, by state and class. */
export type RunningJobs = Readonly<Record<'dispatched' | 'processing', Readonly<Record<JobClass, number>>>>;

/** Writes queue depth, slots and demand into the gauges; what is gone since the last time is gone from them, too. */
export function recordDemand(
  metrics: Metrics,
  { byPool, byPlan, atPlaces }: Demand,
  running: RunningJobs,
): void {
  for (const jobClass of JOB_CLASSES) {
    metrics.jobs.set({ state: 'queued', class: jobClass }, atPlaces[jobClass]);
    metrics.jobs.set({ state: 'dispatched', class: jobClass }, running.dispatched[jobClass]);
    metrics.jobs.set({ state: 'processing', class: jobClass }, running.processing[jobClass]);
  }
  metrics.slotsInUse.reset();
  metrics.slotsWaiting.reset();
  for (const [plan, { inFlight, waiting }] of byPlan) {
    metrics.slotsInUse.set({ plan }, inFlight);
    metrics.slotsWaiting.set({ plan }, waiting);
  }
  metrics.poolDemand.reset();
  for (const [pool, { demand }] of byPool) metrics.poolDemand.set({ pool }, demand);
}
