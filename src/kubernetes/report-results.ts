import type { Logger } from '../telemetry/logger.ts';
import { isConflict, KubernetesError } from './client/kubernetes-error.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import type { ReconcileResult } from './queue/work-queue.ts';

/** Puts every look at an object into the metrics, and those that failed into the log. */
export function reportResults(
  controller: string,
  metrics: Pick<ControllerMetrics, 'reconcileDuration' | 'reconcileErrors'>,
  logger: Pick<Logger, 'warn' | 'debug'>,
): (result: ReconcileResult) => void {
  return ({ key, seconds, failures, error }) => {
    metrics.reconcileDuration.observe({ controller }, seconds);
    if (error === undefined) return;
    metrics.reconcileErrors.inc({ controller, reason: reasonOf(error) });
    const told = { err: error, controller, key, failures };
    // Somebody else was faster: the next look sees what they did.
    if (isConflict(error) && failures === 1) logger.debug(told, 'a look has to be repeated');
    else logger.warn(told, 'a look has failed and will be repeated');
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof KubernetesError) return error.reason;
  return error instanceof Error ? error.name : 'Unknown';
}
