import { isConflict, KubernetesError } from '../infra/kube/kubernetes-error.ts';
import type { ReconcileResult } from '../infra/kube/queue/work-queue.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import type { ControllerMetrics } from './controller-metrics.ts';

/** Counts every reconciliation in the metrics, and logs failed ones. */
export function reportResults(
  controller: string,
  metrics: Pick<ControllerMetrics, 'reconcileDuration' | 'reconcileErrors'>,
  logger: Pick<Logger, 'warn' | 'debug'>,
): (result: ReconcileResult) => void {
  return ({ key, seconds, failures, error }) => {
    metrics.reconcileDuration.observe({ controller }, seconds);
    if (error === undefined) return;
    metrics.reconcileErrors.inc({ controller, reason: reasonOf(error) });
    const reported = { err: error, controller, key, failures };
    // Another client was faster: the next reconciliation sees its write.
    if (isConflict(error) && failures === 1) logger.debug(reported, 'a reconciliation has to be repeated');
    else logger.warn(reported, 'a reconciliation has failed and will be repeated');
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof KubernetesError) return error.reason;
  return error instanceof Error ? error.name : 'Unknown';
}
