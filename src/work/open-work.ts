import { BatchStore } from './batches/batch-store.ts';
import { countItems } from './batches/count-items.ts';
import { type Batches, openBatches } from './batches/open-batches.ts';
import { type Callbacks, openCallbacks } from './callbacks/open-callbacks.ts';
import { type Jobs, type JobsCore, openJobs } from './jobs/open-jobs.ts';
import { WorkerRegistry } from './pools/worker-registry.ts';

/** Jobs, batches and callbacks: a process that ends a job has to update all three. */
export interface Work {
  readonly jobs: Jobs;
  readonly batches: Batches;
  readonly callbacks: Callbacks;
  readonly registry: WorkerRegistry;
  /** Resolves when what has been begun is written: batches are expanded, and the ends of jobs are followed. */
  flush(): Promise<void>;
}

/** To be opened once a process, before the connection's indexes are created. */
export function openWork(core: Omit<JobsCore, 'furtherSteps'>): Work {
  const { connection, clock } = core;
  // Before the jobs, because it counts their ends.
  const store = new BatchStore(connection, clock);
  const callbacks = openCallbacks(core);
  const furtherSteps = [countItems(store, callbacks.batchFinished), callbacks.step, callbacks.uploadStep];
  const jobs = openJobs({ ...core, furtherSteps });
  const batches = openBatches(core, { store, jobs, onFinished: callbacks.batchFinished });
  return {
    jobs,
    batches,
    callbacks,
    registry: new WorkerRegistry(connection, clock),
    async flush() {
      await batches.reconciler.idle();
      await jobs.followUp.flush();
    },
  };
}
