import type { Core } from '../../infra/core.ts';
import type { Jobs } from '../jobs/open-jobs.ts';
import type { Batch } from './batch.ts';
import { BatchAdmission } from './batch-admission.ts';
import type { BatchCore } from './batch-core.ts';
import { BatchMetrics } from './batch-metrics.ts';
import { BatchReconciler } from './batch-reconciler.ts';
import { BatchService } from './batch-service.ts';
import type { BatchStore } from './batch-store.ts';
import { SourceFiles } from './source/source-files.ts';
import { type ReaderCore, type ReaderWays, SourceReader } from './source/source-reader.ts';
import { SourcedBatches } from './source/sourced-batches.ts';

/** @param below what batches stand on. */
export function openBatches(
  {
    connection,
    clock,
    logger,
    planOf,
  }: Pick<BatchCore, 'clock' | 'logger' | 'planOf'> & Pick<Core, 'connection'>,
  below: {
    readonly store: BatchStore;
    readonly jobs: Jobs;
    /** Runs when a batch has ended; the same function as for `countItems`. */
    readonly onFinished: (batch: Batch) => Promise<void>;
  },
) {
  const { store: batches, jobs, onFinished } = below;
  const sourced = new SourcedBatches(connection, clock);
  const files = new SourceFiles(connection, clock, jobs.stored);
  const own = { ...jobs, clock, logger, planOf, batches, onFinished, sourced, files };
  const admission = new BatchAdmission(own);
  const reconciler = new BatchReconciler(own);
  const service = new BatchService({ ...own, admission, reconciler });
  return {
    store: batches,
    ...{ admission, reconciler, service, files, sourced },
    metrics: new BatchMetrics(own),
    /** What reads the sources of batches, in one of the processes at a time. */
    openReader: (accounts: ReaderCore['accounts'], ways: ReaderWays) =>
      new SourceReader({ ...own, accounts, reconciler }, ways),
  };
}

/** The batch services that all roles use. */
export type Batches = ReturnType<typeof openBatches>;
