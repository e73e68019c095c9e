import type { mongo } from 'mongoose';
import type { Period } from '../../../tenants/plans/quota-period.ts';
import { callbackBytes, type Job, keptBytes, uploadBytes } from '../job.ts';
import { PRIORITY_QUEUES, type QueueName } from '../priority-queues.ts';
import { type LedgerRecord, type NextInQueue, queueState, type SeenLedger } from './ledger-record.ts';

/** The quota that an admission uses: a period, and the PDFs that may be used in it. */
export interface QuotaLimit {
  readonly period: Period;
  readonly limit: number;
  /** Set when the limit includes bought PDFs: the limit is valid only for this version of `blockBalance`. */
  readonly balanceVersion?: number;
}

/** The bytes to be stored for an account, and the most bytes that it may store. */
export interface StoredLimit {
  readonly bytes: number;
  readonly max: number;
}

type Filter = mongo.Filter<LedgerRecord>;

/** Only one admission at a time reserves something for a job. */
export function notNamed(jobId: string): Filter {
  return { [`holders.${jobId}`]: { $exists: false }, [`pending.${jobId}`]: { $exists: false } };
}

export function withinQuota(quota: QuotaLimit | undefined, count: number): Filter {
  // Not `$lte`: a period that has not begun has no number yet.
  if (quota === undefined) return {};
  const { period, limit, balanceVersion } = quota;
  return {
    [`quota.${period}`]: { $not: { $gt: limit - count } },
    ...(balanceVersion !== undefined && { 'blockBalance.version': balanceVersion }),
  };
}

export function withinStored(stored: StoredLimit | undefined): Filter {
  return stored === undefined ? {} : { stored: { $not: { $gt: stored.max - stored.bytes } } };
}

/** Whether the request exceeds the limits even with nothing in use: a filter cannot see that of a missing number. */
export function isBeyond(
  count: number,
  quota: QuotaLimit | undefined,
  stored: StoredLimit | undefined,
): boolean {
  return (quota !== undefined && count > quota.limit) || (stored !== undefined && stored.bytes > stored.max);
}

/** The increments of a record when PDFs of the quota and bytes are taken, or given back. */
export function amounts(count: number, quota: Period | undefined, bytes = 0): Record<string, number> {
  return { ...(quota && { [`quota.${quota}`]: count }), ...(bytes !== 0 && { stored: bytes }) };
}

export function headIs(queue: QueueName, head: number): Filter {
  return { [`queues.${queue}.head`]: head === 0 ? { $exists: false } : head };
}

export function fields<T>(map: string, jobIds: readonly string[], value: T): Record<string, T> {
  return Object.fromEntries(jobIds.map((jobId) => [`${map}.${jobId}`, value]));
}

/** No job has got a position in a queue that is served before this one since the ledger was read. */
export function noEarlierPositions(queue: QueueName, seen: SeenLedger): Filter {
  const before = PRIORITY_QUEUES.slice(0, PRIORITY_QUEUES.indexOf(queue));
  return Object.fromEntries(
    before.map((earlier) => {
      const { tail } = queueState(seen, earlier);
      return [`queues.${earlier}.tail`, tail === 0 ? { $exists: false } : tail];
    }),
  );
}

export function idsOf(jobs: readonly { readonly _id: string }[]): string[] {
  return jobs.map(({ _id }) => _id);
}

/** Moves jobs from their positions at the head of a queue to slots: the condition, and the changes. */
export function handing({ queue, head, jobs }: Pick<NextInQueue, 'queue' | 'head' | 'jobs'>, now: Date) {
  const since = now.getTime();
  const holders = jobs.map(({ _id, quotaPeriod }) => [
    `holders.${_id}`,
    { since, ...(quotaPeriod && { quota: quotaPeriod }) },
  ]);
  return {
    filter: { ...fields('holders', idsOf(jobs), { $exists: false }), ...headIs(queue, head) },
    $inc: { waiting: -jobs.length, [`queues.${queue}.head`]: jobs.length },
    $set: Object.fromEntries(holders),
  };
}

/**
 * The increments, by path, when jobs have ended: quota of jobs without a PDF, and the stored bytes. A job with a
 * callback or an upload takes bytes for its record, which is kept for longer than the job.
 */
export function givenBack(jobs: readonly Job[]): Record<string, number> {
  const back: Record<string, number> = {};
  for (const job of jobs) {
    const { quotaPeriod, state, inputBytes = 0, webhookUrl, uploadUrl } = job;
    const called = webhookUrl === undefined ? 0 : callbackBytes(webhookUrl);
    const put = uploadUrl === undefined || state !== 'completed' ? 0 : uploadBytes(uploadUrl);
    const unused = state === 'completed' ? undefined : (quotaPeriod ?? undefined);
    for (const [path, amount] of Object.entries(
      amounts(-1, unused, keptBytes(job) - inputBytes + called + put),
    ))
      back[path] = (back[path] ?? 0) + amount;
  }
  return back;
}
