import type { mongo } from 'mongoose';
import type { Period } from '../../usage/quota-period.ts';
import { callbackBytes, type Job, keptBytes } from '../job.ts';
import { PRIORITY_QUEUES, type QueueName } from '../priority-queues.ts';
import { type LedgerRecord, type NextInQueue, queueState, type SeenLedger } from './ledger-record.ts';

/** The quota that an admission uses: a period and the PDFs that may be used in it. */
export interface QuotaLimit {
  readonly period: Period;
  readonly limit: number;
  /** Set where the limit counts on what was bought: it holds for that version of it alone. */
  readonly boughtVersion?: number;
}

/** What is to be kept for an account, and how much it may keep in all; both in bytes. */
export interface StoredLimit {
  readonly bytes: number;
  readonly max: number;
}

type Filter = mongo.Filter<LedgerRecord>;

/** One admission at a time takes something for a job. */
export function notNamed(jobId: string): Filter {
  return { [`holders.${jobId}`]: { $exists: false }, [`arriving.${jobId}`]: { $exists: false } };
}

export function withinQuota(quota: QuotaLimit | undefined, count: number): Filter {
  // Not "at most": a period that has not begun has no number yet.
  if (quota === undefined) return {};
  const { period, limit, boughtVersion } = quota;
  return {
    [`quota.${period}`]: { $not: { $gt: limit - count } },
    ...(boughtVersion !== undefined && { 'bought.version': boughtVersion }),
  };
}

export function withinStored(stored: StoredLimit | undefined): Filter {
  return stored === undefined ? {} : { stored: { $not: { $gt: stored.max - stored.bytes } } };
}

/** Whether what is asked for could never be had, whatever has been taken. A filter does not see that of what is missing. */
export function isBeyond(
  count: number,
  quota: QuotaLimit | undefined,
  stored: StoredLimit | undefined,
): boolean {
  return (quota !== undefined && count > quota.limit) || (stored !== undefined && stored.bytes > stored.max);
}

/** What is added to the numbers of a record when PDFs of the quota and bytes are taken, or given back. */
export function amounts(count: number, quota: Period | undefined, bytes = 0): Record<string, number> {
  return { ...(quota && { [`quota.${quota}`]: count }), ...(bytes !== 0 && { stored: bytes }) };
}

export function headIs(queue: QueueName, head: number): Filter {
  return { [`lanes.${queue}.head`]: head === 0 ? { $exists: false } : head };
}

export function fields<T>(map: string, jobIds: readonly string[], value: T): Record<string, T> {
  return Object.fromEntries(jobIds.map((jobId) => [`${map}.${jobId}`, value]));
}

/** No job has got a position in a queue that is served before this one, since the ledger was seen. */
export function noEarlierPositions(queue: QueueName, seen: SeenLedger): Filter {
  const before = PRIORITY_QUEUES.slice(0, PRIORITY_QUEUES.indexOf(queue));
  return Object.fromEntries(
    before.map((earlier) => {
      const { tail } = queueState(seen, earlier);
      return [`lanes.${earlier}.tail`, tail === 0 ? { $exists: false } : tail];
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
    $inc: { waiting: -jobs.length, [`lanes.${queue}.head`]: jobs.length },
    $set: Object.fromEntries(holders),
  };
}

/**
 * By path: what jobs that have ended give back of the quota, if they have made no PDF, and of the bytes kept for them. Jobs
 * with a callback take room for its record, which outlives them.
 */
export function givenBack(jobs: readonly Job[]): Record<string, number> {
  const back: Record<string, number> = {};
  for (const job of jobs) {
    const { quotaPeriod, state, inputBytes = 0, webhookUrl } = job;
    const recorded = webhookUrl === undefined ? 0 : callbackBytes(webhookUrl);
    const unused = state === 'completed' ? undefined : (quotaPeriod ?? undefined);
    for (const [path, amount] of Object.entries(amounts(-1, unused, keptBytes(job) - inputBytes + recorded)))
      back[path] = (back[path] ?? 0) + amount;
  }
  return back;
}
