import { billingMetrics } from '../billing/billing-metrics.ts';
import { httpMetrics } from '../http/request/http-metrics.ts';
import { sweepMetrics } from '../infra/async/sweep-metrics.ts';
import { egressMetrics } from '../infra/egress/egress-metrics.ts';
import { openRegistry } from '../infra/telemetry/metrics.ts';
import { browserMetrics } from '../render/chromium/browser-metrics.ts';
import { mailMetrics } from '../tenants/mail/mail-metrics.ts';
import { planMetrics } from '../tenants/plans/plan-metrics.ts';
import { callbackMetrics } from '../work/callbacks/callback-metrics.ts';
import { jobMetrics } from '../work/jobs/job-metrics.ts';
import { workerMetrics } from '../worker/worker-metrics.ts';
import { secretMetrics } from './process/secret-metrics.ts';

/** Every metric of Platen, declared where it is recorded. @param exemplars whether durations name traces. */
export function createMetrics(role: string, { exemplars = false } = {}) {
  return openRegistry(role, exemplars, (target) => ({
    ...httpMetrics(target),
    ...billingMetrics(target),
    ...jobMetrics(target),
    ...planMetrics(target),
    ...secretMetrics(target),
    ...workerMetrics(target),
    ...browserMetrics(target),
    ...sweepMetrics(target),
    ...callbackMetrics(target),
    ...mailMetrics(target),
    ...egressMetrics(target),
  }));
}

export type Metrics = ReturnType<typeof createMetrics>;
