import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Attempts to deliver callbacks. */
export function callbackMetrics(target: MetricTarget) {
  return {
    callbacks: target.counter(
      'platen_callback_attempts_total{outcome}',
      'Attempts to deliver a callback, by outcome: delivered, retried (failed, and will be repeated), failed (for good).',
    ),
    uploads: target.counter(
      'platen_upload_attempts_total{outcome}',
      'Attempts to put a PDF to an address of its account, by outcome: delivered, retried (failed, and will be repeated), failed (for good).',
    ),
    callbackOldestDue: target.gauge(
      'platen_callback_oldest_due_seconds',
      'Time since the oldest callback became due that its own receiver does not delay, in seconds; 0 while none is due.',
    ),
  };
}

export type CallbackMetrics = ReturnType<typeof callbackMetrics>;
