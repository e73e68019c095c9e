import { AlertStore } from './alerts/alert-store.ts';
import { NoticeCallbacks } from './alerts/notice-callbacks.ts';
import { NoticeEnds } from './alerts/notice-ends.ts';
import type { Batch } from './batches/batch.ts';
import { BatchStore } from './batches/batch-store.ts';
import { countItems } from './batches/count-items.ts';
import { openBatches } from './batches/open-batches.ts';
import { deleteSharedChunks } from './batches/retention.ts';
import { openCallbacks } from './callbacks/open-callbacks.ts';
import type { FollowUpStep } from './jobs/job-follow-up.ts';
import { type JobsCore, openJobs } from './jobs/open-jobs.ts';
import { WorkerRegistry } from './pools/worker-registry.ts';

interface WorkCore extends Omit<JobsCore, 'furtherSteps' | 'onQuotaUsedUp'> {
  /** Where workers are in this process known already: by the lanes of the bus. */
  readonly registry?: WorkerRegistry;
}

/** To be opened once a process, before the connection's indexes are created. */
export function openWork(core: WorkCore) {
  const { connection, clock, registry = new WorkerRegistry(connection, clock) } = core;
  // Before the jobs, because it counts their ends.
  const store = new BatchStore(connection, clock);
  const callbacks = openCallbacks(core);
  const onFinished = async (batch: Batch) => {
    await callbacks.batchFinished(batch);
    // Until the end of its retention a batch may be repeated, unless it keeps nothing.
    if (batch.keepsNothing) await deleteSharedChunks(jobs.store.inputs, batch);
  };
  const alerts = new AlertStore(connection, clock);
  const noticeEnds: FollowUpStep = {
    name: 'notice what its account is to be alerted of',
    run: (ended) => ends.run(ended),
  };
  const jobs = openJobs({
    ...core,
    furtherSteps: [countItems(store, onFinished), callbacks.step, callbacks.uploadStep, noticeEnds],
    onQuotaUsedUp: (accountId) => ends.usedUp(accountId),
  });
  const ends = new NoticeEnds({ ...core, alerts, ledger: jobs.ledger });
  const noticeCallbacks = new NoticeCallbacks({ ...core, alerts });
  const batches = openBatches(core, { store, jobs, onFinished });
  return {
    jobs,
    batches,
    callbacks,
    alerts,
    noticeCallbacks,
    registry,
    /** Resolves when what has been begun is written: batches are expanded, and the ends of jobs are followed. */
    async flush() {
      await batches.reconciler.idle();
      await jobs.followUp.flush();
      await noticeCallbacks.flush();
    },
  };
}

/** Jobs, batches and callbacks: a process that ends a job has to update all three. */
export type Work = ReturnType<typeof openWork>;
