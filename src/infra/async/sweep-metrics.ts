import type { MetricTarget } from '../telemetry/metrics.ts';

/** Sweeps, and what they have repaired. */
export function sweepMetrics(target: MetricTarget) {
  return {
    sweeps: target.counter('platen_sweeps_total{sweep,outcome}', 'Sweeps run, by name and outcome.'),
    sweepRepairs: target.counter('platen_sweep_repairs_total{sweep}', 'Repairs that sweeps made, by sweep.'),
  };
}
