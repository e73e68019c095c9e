import { Counter, Gauge, Histogram } from 'prom-client';
import type { MetricTarget } from '../infra/telemetry/metrics.ts';

/** What comes from the payment provider, and what an operator has to check there. */
export function billingMetrics({ registers }: MetricTarget) {
  return {
    paymentEvents: new Counter({
      name: 'platen_payment_events_total',
      help: 'Events of the payment provider: noted, ignored, refused (rejected: not signed, or too old) or failed (could not be stored).',
      labelNames: ['outcome'] as const,
      registers,
    }),
    paymentEventAge: new Histogram({
      name: 'platen_payment_event_age_seconds',
      help: 'Time from an event at the payment provider to its arrival here, in seconds.',
      buckets: [1, 2, 5, 10, 30, 60, 300, 1800, 7200, 86_400, 259_200],
      registers,
    }),
    billingSyncs: new Counter({
      name: 'platen_billing_syncs_total',
      help: 'Synchronizations of an account with the payment provider: done, overtaken (by a later one) or failed.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    reconcileFindings: new Counter({
      name: 'platen_billing_reconcile_findings_total',
      help: 'Differences that queries of the payment provider found, by kind: event (one that had not arrived) or schedule (one that was half-made, and was finished or released).',
      labelNames: ['kind'] as const,
      registers,
    }),
    overageBlocks: new Gauge({
      name: 'platen_billing_blocks',
      help: 'Blocks of PDFs beyond the quota, by state; on_page: offered on a hosted page.',
      labelNames: ['state'] as const,
      registers,
    }),
    billingDisputes: new Gauge({
      name: 'platen_billing_disputes',
      help: 'Payments that the banks of customers dispute at present, by what was paid: subscription or block.',
      labelNames: ['about'] as const,
      registers,
    }),
    billingErrors: new Counter({
      name: 'platen_billing_errors_total',
      help: 'States that an operator has to check, counted each time that one is seen: unclear (a status or price that is not understood), duplicate (a second subscription), refund (one that cannot be paid back), unproven (a block that is marked as paid without a payment), refused (a block whose invoice was rejected).',
      labelNames: ['kind'] as const,
      registers,
    }),
  };
}

export type BillingMetrics = ReturnType<typeof billingMetrics>;
