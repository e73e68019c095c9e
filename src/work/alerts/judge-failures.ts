import type { Thresholds } from '../../tenants/notifications/thresholds.ts';
import type { FailureAlerted, HourOfRenders } from './alert-record.ts';

const HOUR_MS = 3_600_000;
/** The least time between two alerts of failures, in milliseconds. */
const TELL_AGAIN_MS = 6 * HOUR_MS;
/** After the end of an hour, until all its renders are counted, in milliseconds. */
const COUNTED_MS = 60_000;

/** The beginning of the hour (UTC) of a moment. */
export function hourOf(moment: Date): Date {
  return new Date(moment.getTime() - (moment.getTime() % HOUR_MS));
}

export function hasTooManyFailures(
  { renders, failed }: Pick<HourOfRenders, 'renders' | 'failed'>,
  { failurePercent, failureRenders }: Pick<Thresholds, 'failurePercent' | 'failureRenders'>,
): boolean {
  return renders >= failureRenders && 100 * failed > failurePercent * renders;
}

/**
 * Too many of the present hour, or of the one before it, have failed, or the account has recovered: neither has too many.
 * People are told once, and again only after that, at most every 6 hours.
 *
 * @param hours the present hour and the one before it, in this order.
 * @returns when to look again; undefined when only a further failure matters.
 */
export function judgeFailures(
  before: FailureAlerted | undefined,
  hours: readonly HourOfRenders[],
  thresholds: Thresholds,
  now: Date,
): { readonly state: FailureAlerted | undefined; readonly tells: boolean; readonly dueAt: Date | undefined } {
  const failing = hours.find((hour) => hasTooManyFailures(hour, thresholds));
  const { toldAt } = before ?? {};
  const told = { ...(toldAt && { toldAt }) };
  if (failing === undefined) {
    const state = before && { told: false, ...told };
    return { state, tells: false, dueAt: undefined };
  }
  const nextHour = new Date(hourOf(now).getTime() + HOUR_MS + COUNTED_MS);
  if (before?.now !== undefined && before.told)
    return { state: { now: failing, told: true, ...told }, tells: false, dueAt: nextHour };
  const mayTellAt = toldAt === undefined ? 0 : toldAt.getTime() + TELL_AGAIN_MS;
  const tells = mayTellAt <= now.getTime();
  return {
    state: { now: failing, told: tells, ...(tells ? { toldAt: now } : told) },
    tells,
    dueAt: tells ? nextHour : new Date(Math.min(mayTellAt, nextHour.getTime())),
  };
}
