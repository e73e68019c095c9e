import { JOB_CLASSES } from '../../infra/bus/bus.ts';
import type { Demand } from './demand.ts';
import type { JobMetrics } from './job-metrics.ts';
import type { RunningJobs } from './store/live-jobs.ts';

/** Writes queue depth and age, slots and demand into the gauges; pools and plans that are gone leave them. */
export function recordDemand(
  metrics: JobMetrics,
  { byPool, byPlan, atPositions }: Demand,
  running: RunningJobs,
  now: Date,
): void {
  for (const jobClass of JOB_CLASSES) {
    metrics.jobs.set({ state: 'queued', class: jobClass }, atPositions[jobClass]);
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
  metrics.oldestDispatched.reset();
  for (const [pool, { demand }] of byPool) {
    metrics.poolDemand.set({ pool }, demand);
    metrics.oldestDispatched.set({ pool }, 0);
  }
  for (const [pool, since] of running.oldestDispatched) {
    metrics.oldestDispatched.set({ pool }, Math.max(0, now.getTime() - since.getTime()) / 1000);
  }
}
