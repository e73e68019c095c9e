import { Counter } from 'prom-client';
import type { MetricTarget } from '../telemetry/metrics.ts';

/** Sweeps, and what they have repaired. */
export function sweepMetrics({ registers }: MetricTarget) {
  return {
    sweeps: new Counter({
      name: 'platen_sweeps_total',
      help: 'Sweeps run, by name and outcome.',
      labelNames: ['sweep', 'outcome'] as const,
      registers,
    }),
    sweepRepairs: new Counter({
      name: 'platen_sweep_repairs_total',
      help: 'Repairs that sweeps made, by sweep.',
      labelNames: ['sweep'] as const,
      registers,
    }),
  };
}
