import { Counter, Gauge } from 'prom-client';
import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Attempts to deliver callbacks. */
export function callbackMetrics({ registers }: MetricTarget) {
  return {
    callbacks: new Counter({
      name: 'platen_callback_attempts_total',
      help: 'Attempts to deliver a callback, by outcome: delivered, retried (failed, and will be repeated), failed (for good).',
      labelNames: ['outcome'] as const,
      registers,
    }),
    uploads: new Counter({
      name: 'platen_upload_attempts_total',
      help: 'Attempts to put a PDF to an address of its account, by outcome: delivered, retried (failed, and will be repeated), failed (for good).',
      labelNames: ['outcome'] as const,
      registers,
    }),
    callbackOldestDue: new Gauge({
      name: 'platen_callback_oldest_due_seconds',
      help: 'Time since the oldest callback became due that its own receiver does not delay, in seconds; 0 while none is due.',
      registers,
    }),
  };
}

export type CallbackMetrics = ReturnType<typeof callbackMetrics>;
