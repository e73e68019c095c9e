import type { MetricTarget } from '../../infra/telemetry/metrics.ts';

/** Whether the plans are those of their file. */
export function planMetrics(target: MetricTarget) {
  return {
    plansFileValid: target.gauge(
      'platen_plans_file_valid',
      '1 while the plans are those of the plans file, or without such a file; 0 while the file has errors and the earlier plans stay in force.',
    ),
  };
}
