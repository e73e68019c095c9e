import type { Clock } from '../../infra/clock.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { NamedPlan } from '../../tenants/plans/plan.ts';
import type { Jobs } from '../jobs/open-jobs.ts';
import type { Batch } from './batch.ts';
import { BatchAdmission } from './batch-admission.ts';
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

/** @param batches created before the jobs, because it counts the ends of jobs. */
export function openBatches(
  batches: BatchStore,
  jobs: Jobs,
  deps: {
    readonly clock: Clock;
    readonly logger: Logger;
    /** The present plan of an account. */
    readonly planOf: (accountId: string) => Promise<NamedPlan>;
    /** Runs when a batch has ended; the same function as for `countItems`. */
    readonly onFinished: (batch: Batch) => Promise<void>;
  },
): Batches {
  const own = { ...jobs, ...deps, batches };
  const admission = new BatchAdmission(own);
  const reconciler = new BatchReconciler(own);
  const service = new BatchService({ ...own, admission, reconciler });
  return { store: batches, admission, reconciler, service, metrics: new BatchMetrics(own) };
}
