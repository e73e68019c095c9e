import { Gauge } from 'prom-client';
import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Whether the plans are those of their file. */
export function planMetrics({ registers }: MetricTarget) {
  return {
    plansFileValid: new Gauge({
      name: 'platen_plans_file_valid',
      help: '1 while the plans are those of the plans file, or without such a file; 0 while the file has errors and the earlier plans stay in force.',
      registers,
    }),
  };
}
