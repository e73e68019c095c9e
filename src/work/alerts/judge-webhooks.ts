import type { FailingAddress } from './alert-record.ts';

const HOUR_MS = 3_600_000;
/** How long callbacks have to fail before people are told, unless many fail in a row; in milliseconds. */
export const TELL_AFTER_MS = HOUR_MS;
/** An address without attempts is forgotten after this time, in milliseconds: longer than between two attempts. */
const FORGET_MS = 48 * HOUR_MS;

type Verdict = 'tell' | 'recovered' | 'forget' | undefined;

/**
 * What there is to tell of an address, and when to look again.
 *
 * @param most attempts that may fail in a row before people are told.
 */
export function judgeAddress(
  { since, failures, lastAt, toldAt, arrivedAt }: FailingAddress,
  most: number,
  now: Date,
): { readonly verdict: Verdict; readonly dueAt: Date } {
  const forgottenAt = new Date(lastAt.getTime() + FORGET_MS);
  if (arrivedAt !== undefined) return { verdict: 'recovered', dueAt: now };
  if (now >= forgottenAt) return { verdict: 'forget', dueAt: now };
  if (toldAt !== undefined) return { verdict: undefined, dueAt: forgottenAt };
  const tellAt = new Date(since.getTime() + TELL_AFTER_MS);
  const isLong = failures >= most || now >= tellAt;
  return isLong ? { verdict: 'tell', dueAt: forgottenAt } : { verdict: undefined, dueAt: tellAt };
}
