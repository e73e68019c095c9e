import { observeDuration } from '../../infra/telemetry/exemplars.ts';
import { recordedTrace } from '../../infra/tracing/trace-context.ts';
import type { Job } from './job.ts';
import type { JobMetrics } from './job-metrics.ts';

/**
 * Notes how long a job had waited when a worker first took it: until it had a slot of its plan, which depends on its
 * account, and from then on for a worker, which depends on the operator. The times may come from two machines' clocks.
 */
export function recordWait(metrics: Pick<JobMetrics, 'jobWait'>, job: Job): void {
  const { createdAt, dispatchedAt, startedAt, attempts, class: jobClass } = job;
  if (attempts !== 1 || dispatchedAt === null || startedAt === null) return;
  const observe = (what: 'slot' | 'worker', from: Date, to: Date) =>
    observeDuration(
      metrics.jobWait,
      { for: what, class: jobClass },
      Math.max(0, to.getTime() - from.getTime()) / 1000,
      recordedTrace(job.trace),
    );
  observe('slot', createdAt, dispatchedAt);
  observe('worker', dispatchedAt, startedAt);
}
