import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Attempts to send mails. */
export function mailMetrics(target: MetricTarget) {
  return {
    mails: target.counter(
      'platen_mail_attempts_total{outcome}',
      'Attempts to send a mail, by outcome: sent, retried (failed, and will be repeated), failed (for good).',
    ),
    mailsWaiting: target.gauge('platen_mails_waiting', 'Mails that wait to be sent.'),
    mailOldestWaiting: target.gauge(
      'platen_mail_oldest_waiting_seconds',
      'Time that the oldest unsent mail has been waiting, in seconds; 0 without unsent mails.',
    ),
  };
}

export type MailMetrics = ReturnType<typeof mailMetrics>;
