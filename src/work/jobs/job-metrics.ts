import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Jobs: how many, how long they wait, how they end. */
export function jobMetrics(target: MetricTarget) {
  return {
    jobs: target.gauge('platen_jobs{state,class}', 'Live jobs by state and class.'),
    slotsInUse: target.gauge('platen_slots_in_use{plan}', 'Plan slots taken, by plan.'),
    slotsWaiting: target.gauge('platen_slots_waiting{plan}', 'Jobs that wait for a plan slot, by plan.'),
    oldestDispatched: target.gauge(
      'platen_queue_oldest_age_seconds{pool}',
      'Age of the job that has held a plan slot for longest without a worker taking it, by pool, in seconds; 0 while none does.',
    ),
    jobWait: target.duration(
      'platen_job_wait_seconds{for,class}',
      'Time that jobs had waited when a worker took them for the first time, by what they waited for (a slot of their plan, or a worker) and class.',
    ),
    poolDemand: target.gauge(
      'platen_pool_demand_slots{pool}',
      'Jobs that may run at the moment, by pool: in flight, and waiting jobs that would fit in addition.',
    ),
    jobsEnded: target.counter(
      'platen_jobs_ended_total{state,class,code}',
      'Jobs that ended, by state, class and error code ("none" when completed).',
    ),
    rendersDropped: target.counter(
      'platen_renders_dropped_total',
      'Renders whose result was dropped: the job was cancelled, or its lease ended and another worker took it.',
    ),
    retries: target.counter(
      'platen_job_retries_total{code}',
      'Attempts that failed and will be repeated, by error code.',
    ),
  };
}

export type JobMetrics = ReturnType<typeof jobMetrics>;
