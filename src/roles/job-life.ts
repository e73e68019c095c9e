import { BatchStore } from '../batches/batch-store.ts';
import { countItems } from '../batches/count-items.ts';
import { type Batches, openBatches } from '../batches/open-batches.ts';
import { type Callbacks, openCallbacks } from '../callbacks/open-callbacks.ts';
import { type Jobs, type JobsParts, openJobs } from '../jobs/open-jobs.ts';

/** Jobs, and those who are told of their ends: any process that ends a job has to do that. */
export interface JobLife {
  readonly jobs: Jobs;
  readonly batchStore: BatchStore;
  readonly callbacks: Callbacks;
}

/** To be made before the connection's indexes are. */
export function openJobLife(parts: Omit<JobsParts, 'furtherSteps'>): JobLife {
  const { connection, clock } = parts;
  const batchStore = new BatchStore(connection, clock);
  const callbacks = openCallbacks(connection, clock);
  const furtherSteps = [countItems(batchStore, callbacks.batchFinished), callbacks.step];
  return { jobs: openJobs({ ...parts, furtherSteps }), batchStore, callbacks };
}

/** What takes batches and looks after them, on top of their jobs. */
export function openBatchesOn(
  { jobs, batchStore, callbacks }: JobLife,
  { clock, logger, planOf }: Pick<JobsParts, 'clock' | 'logger' | 'planOf'>,
): Batches {
  return openBatches(batchStore, jobs, { clock, logger, planOf, onFinished: callbacks.batchFinished });
}
