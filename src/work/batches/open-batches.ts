import type { Jobs } from '../jobs/open-jobs.ts';
import type { Batch } from './batch.ts';
import { BatchAdmission } from './batch-admission.ts';
import type { BatchCore } from './batch-core.ts';
import { BatchMetrics } from './batch-metrics.ts';
import { BatchReconciler } from './batch-reconciler.ts';
import { BatchService } from './batch-service.ts';
import type { BatchStore } from './batch-store.ts';

/** The batch services that all roles use. */
export interface Batches {
  readonly store: BatchStore;
  readonly admission: BatchAdmission;
  readonly reconciler: BatchReconciler;
  readonly service: BatchService;
  readonly metrics: BatchMetrics;
}

/** @param below what batches stand on. */
export function openBatches(
  { clock, logger, planOf }: Pick<BatchCore, 'clock' | 'logger' | 'planOf'>,
  below: {
    readonly store: BatchStore;
    readonly jobs: Jobs;
    /** Runs when a batch has ended; the same function as for `countItems`. */
    readonly onFinished: (batch: Batch) => Promise<void>;
  },
): Batches {
  const { store: batches, jobs, onFinished } = below;
  const own = { ...jobs, clock, logger, planOf, batches, onFinished };
  const admission = new BatchAdmission(own);
  const reconciler = new BatchReconciler(own);
  const service = new BatchService({ ...own, admission, reconciler });
  return { store: batches, admission, reconciler, service, metrics: new BatchMetrics(own) };
}
