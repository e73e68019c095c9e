import { Counter, Gauge } from 'prom-client';
import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Attempts to send mails. */
export function mailMetrics({ registers }: MetricTarget) {
  return {
    mails: new Counter({
      name: 'platen_mail_attempts_total',
      help: 'Attempts to send a mail, by outcome: sent, retried (failed, and will be repeated), failed (for good).',
      labelNames: ['outcome'] as const,
      registers,
    }),
    mailsWaiting: new Gauge({
      name: 'platen_mails_waiting',
      help: 'Mails that wait to be sent.',
      registers,
    }),
    mailOldestWaiting: new Gauge({
      name: 'platen_mail_oldest_waiting_seconds',
      help: 'Time that the oldest unsent mail has been waiting, in seconds; 0 without unsent mails.',
      registers,
    }),
  };
}

export type MailMetrics = ReturnType<typeof mailMetrics>;
