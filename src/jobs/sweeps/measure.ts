import { JOB_CLASSES } from '../../bus/bus.ts';
import type { PlanSource } from '../../plans/plan-source.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { JobCollections } from '../job-collections.ts';

const LIVE_STATES = ['queued', 'dispatched', 'processing'] as const;

interface Count {
  readonly _id: { readonly state: string; readonly class: string; readonly plan: string };
  readonly jobs: number;
}

/** Reads queue depth and slots from the jobs themselves into the gauges. @returns 0: there is nothing to put right. */
export async function measure(parts: {
  collections: JobCollections;
  plans: PlanSource;
  metrics: Metrics;
}): Promise<number> {
  const { collections, plans, metrics } = parts;
  const counts = await collections.jobs.aggregate<Count>([
    { $match: { state: { $in: [...LIVE_STATES] } } },
    { $group: { _id: { state: '$state', class: '$class', plan: '$plan' }, jobs: { $sum: 1 } } },
  ]);
  const sum = (wanted: (id: Count['_id']) => boolean) =>
    counts.filter(({ _id }) => wanted(_id)).reduce((total, { jobs }) => total + jobs, 0);
  for (const state of LIVE_STATES) {
    for (const jobClass of JOB_CLASSES) {
      metrics.jobs.set(
        { state, class: jobClass },
        sum((id) => id.state === state && id.class === jobClass),
      );
    }
  }
  // A plan that is no more is not to stand there for ever.
  metrics.slotsInUse.reset();
  metrics.slotsWaiting.reset();
  for (const plan of new Set([...plans.names(), ...counts.map(({ _id }) => _id.plan)])) {
    metrics.slotsInUse.set(
      { plan },
      sum((id) => id.plan === plan && id.state !== 'queued'),
    );
    metrics.slotsWaiting.set(
      { plan },
      sum((id) => id.plan === plan && id.state === 'queued'),
    );
  }
  return 0;
}
