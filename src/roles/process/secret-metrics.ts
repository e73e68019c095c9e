import { Gauge } from 'prom-client';
import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Secrets and certificates that a process was started with. */
export function secretMetrics({ registers }: MetricTarget) {
  return {
    secretOutdated: new Gauge({
      name: 'platen_secret_outdated',
      help: '1 while the Secret that a variable was taken from, or the file that it names, differs from the start of the process, by variable.',
      labelNames: ['variable'] as const,
      registers,
    }),
    certificateEnds: new Gauge({
      name: 'platen_certificate_end_timestamp_seconds',
      help: 'When the client certificate that this process shows ends to be valid, in seconds since the epoch, by variable.',
      labelNames: ['variable'] as const,
      registers,
    }),
  };
}

export type SecretMetrics = ReturnType<typeof secretMetrics>;
