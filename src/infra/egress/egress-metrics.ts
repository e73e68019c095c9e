import type { MetricTarget } from '../telemetry/metrics.ts';

/** Connections that documents request. */
export function egressMetrics(target: MetricTarget) {
  return {
    egress: target.counter(
      'platen_egress_connections_total{outcome}',
      'Connections that documents requested, by outcome: connected, or the reason why not (proxy: HTTPS_PROXY has failed or refused).',
    ),
  };
}
