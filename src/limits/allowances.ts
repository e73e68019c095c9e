import type { Plan } from '../plans/plan.ts';
import type { RateKind } from './rate-limiter.ts';

/**
 * Looking at a job costs little, and every job that was accepted is looked at several times before it is fetched. If
 * that counted as much as asking for work, following one job would use up a small plan's minute.
 */
const READS_PER_REQUEST = 10;

/**
 * Ten requests a second, on every plan: people look after their keys and templates in a dashboard whatever they pay. A
 * page that asks for five lists every five seconds makes sixty a minute, so ten such pages may be open at a time; a script
 * that asks as fast as it is answered meets the bound within seconds. A plan with a higher rate has scripts of its own,
 * and may manage its account as fast as it may ask for PDFs.
 */
const LEAST_ACCOUNT_REQUESTS = 600;

/** Requests a minute of each kind that a plan allows an account. */
export function allowances(plan: Plan): Readonly<Record<RateKind, number>> {
  return {
    requests: plan.requestsPerMinute,
    reads: plan.requestsPerMinute * READS_PER_REQUEST,
    account: Math.max(LEAST_ACCOUNT_REQUESTS, plan.requestsPerMinute),
  };
}
