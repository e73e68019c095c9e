import { Counter, Gauge, Histogram } from 'prom-client';
import { DURATION_BUCKETS, type MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Jobs: how many, how long they wait, how they end. */
export function jobMetrics({ registers, traced }: MetricTarget) {
  return {
    jobs: new Gauge({
      name: 'platen_jobs',
      help: 'Live jobs by state and class.',
      labelNames: ['state', 'class'] as const,
      registers,
    }),
    slotsInUse: new Gauge({
      name: 'platen_slots_in_use',
      help: 'Plan slots taken, by plan.',
      labelNames: ['plan'] as const,
      registers,
    }),
    slotsWaiting: new Gauge({
      name: 'platen_slots_waiting',
      help: 'Jobs that wait for a plan slot, by plan.',
      labelNames: ['plan'] as const,
      registers,
    }),
    oldestDispatched: new Gauge({
      name: 'platen_queue_oldest_age_seconds',
      help: 'Age of the job that has held a plan slot for longest without a worker taking it, by pool, in seconds; 0 while none does.',
      labelNames: ['pool'] as const,
      registers,
    }),
    jobWait: new Histogram({
      name: 'platen_job_wait_seconds',
      help: 'Time that jobs had waited when a worker took them for the first time, by what they waited for (a slot of their plan, or a worker) and class.',
      labelNames: ['for', 'class'] as const,
      buckets: DURATION_BUCKETS,
      ...traced,
    }),
    poolDemand: new Gauge({
      name: 'platen_pool_demand_slots',
      help: 'Jobs that may run at the moment, by pool: in flight, and waiting jobs that would fit in addition.',
      labelNames: ['pool'] as const,
      registers,
    }),
    jobsEnded: new Counter({
      name: 'platen_jobs_ended_total',
      help: 'Jobs that ended, by state, class and error code ("none" when completed).',
      labelNames: ['state', 'class', 'code'] as const,
      registers,
    }),
    rendersDropped: new Counter({
      name: 'platen_renders_dropped_total',
      help: 'Renders whose result was dropped: the job was cancelled, or its lease ended and another worker took it.',
      registers,
    }),
    retries: new Counter({
      name: 'platen_job_retries_total',
      help: 'Attempts that failed and will be repeated, by error code.',
      labelNames: ['code'] as const,
      registers,
    }),
  };
}

export type JobMetrics = ReturnType<typeof jobMetrics>;
