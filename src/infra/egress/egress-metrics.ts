import { Counter } from 'prom-client';
import type { MetricTarget } from '../telemetry/metrics.ts';

/** Connections that documents request. */
export function egressMetrics({ registers }: MetricTarget) {
  return {
    egress: new Counter({
      name: 'platen_egress_connections_total',
      help: 'Connections that documents requested, by outcome: connected, or the reason why not (proxy: HTTPS_PROXY has failed or refused).',
      labelNames: ['outcome'] as const,
      registers,
    }),
  };
}
