import type { Plan } from '../plans/plan.ts';
import type { RateKind } from './rate-limiter.ts';

/**
 * Looking at a job costs little, and every job that was accepted is looked at several times before it is fetched. If
 * that counted as much as asking for work, following one job would use up a small plan's minute.
 */
const READS_PER_REQUEST = 10;

/** Requests a minute of each kind that a plan allows an account. */
export function allowances(plan: Plan): Readonly<Record<RateKind, number>> {
  return { requests: plan.requestsPerMinute, reads: plan.requestsPerMinute * READS_PER_REQUEST };
}
