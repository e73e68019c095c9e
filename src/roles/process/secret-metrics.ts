import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Secrets and certificates that a process was started with. */
export function secretMetrics(target: MetricTarget) {
  return {
    secretOutdated: target.gauge(
      'platen_secret_outdated{variable}',
      '1 while the Secret that a variable was taken from, or the file that it names, differs from the start of the process, by variable.',
    ),
    certificateEnds: target.gauge(
      'platen_certificate_end_timestamp_seconds{variable}',
      'When the client certificate that this process shows ends to be valid, in seconds since the epoch, by variable.',
    ),
  };
}

export type SecretMetrics = ReturnType<typeof secretMetrics>;
