import type { MetricTarget } from '../infra/telemetry/metrics.ts';

/** What comes from the payment provider, and what an operator has to check there. */
export function billingMetrics(target: MetricTarget) {
  return {
    paymentEvents: target.counter(
      'platen_payment_events_total{outcome}',
      'Events of the payment provider: noted, ignored, refused (rejected: not signed, or too old) or failed (could not be stored).',
    ),
    paymentEventAge: target.histogram(
      'platen_payment_event_age_seconds',
      'Time from an event at the payment provider to its arrival here, in seconds.',
      [1, 2, 5, 10, 30, 60, 300, 1800, 7200, 86_400, 259_200],
    ),
    billingSyncs: target.counter(
      'platen_billing_syncs_total{outcome}',
      'Synchronizations of an account with the payment provider: done, overtaken (by a later one) or failed.',
    ),
    reconcileFindings: target.counter(
      'platen_billing_reconcile_findings_total{kind}',
      'Differences that queries of the payment provider found, by kind: event (one that had not arrived) or schedule (one that was half-made, and was finished or released).',
    ),
    overageBlocks: target.gauge(
      'platen_billing_blocks{state}',
      'Blocks of PDFs beyond the quota, by state; on_page: offered on a hosted page.',
    ),
    billingDisputes: target.gauge(
      'platen_billing_disputes{about}',
      'Payments that the banks of customers dispute at present, by what was paid: subscription or block.',
    ),
    billingErrors: target.counter(
      'platen_billing_errors_total{kind}',
      'States that an operator has to check, counted each time that one is seen: unclear (a status or price that is not understood), duplicate (a second subscription), refund (one that cannot be paid back), unproven (a block that is marked as paid without a payment), refused (a block whose invoice was rejected).',
    ),
  };
}

export type BillingMetrics = ReturnType<typeof billingMetrics>;
