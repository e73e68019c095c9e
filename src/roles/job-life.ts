import { BatchStore } from '../work/batches/batch-store.ts';
import { countItems } from '../work/batches/count-items.ts';
import { type Batches, openBatches } from '../work/batches/open-batches.ts';
import { type Callbacks, openCallbacks } from '../work/callbacks/open-callbacks.ts';
import { type Jobs, type JobsDeps, openJobs } from '../work/jobs/open-jobs.ts';

/** Jobs, batches and callbacks: a process that ends a job has to update all three. */
export interface JobLife {
  readonly jobs: Jobs;
  readonly batchStore: BatchStore;
  readonly callbacks: Callbacks;
}

/** To be created before the connection's indexes. */
export function openJobLife(deps: Omit<JobsDeps, 'furtherSteps'>): JobLife {
  const { connection, clock } = deps;
  const batchStore = new BatchStore(connection, clock);
  const callbacks = openCallbacks(connection, clock);
  const furtherSteps = [countItems(batchStore, callbacks.batchFinished), callbacks.step];
  return { jobs: openJobs({ ...deps, furtherSteps }), batchStore, callbacks };
}

/** Batches, on top of their jobs. */
export function openBatchesOn(
  { jobs, batchStore, callbacks }: JobLife,
  { clock, logger, planOf }: Pick<JobsDeps, 'clock' | 'logger' | 'planOf'>,
): Batches {
  return openBatches(batchStore, jobs, { clock, logger, planOf, onFinished: callbacks.batchFinished });
}
