import type { JobClass } from '../../infra/bus/bus.ts';

/**
 * The queues in which an account's jobs wait for a plan slot, in the order in which they are served. Retries go before
 * jobs that have never run, and interactive jobs before bulk jobs.
 */
export const PRIORITY_QUEUES = ['interactive-again', 'interactive', 'bulk-again', 'bulk'] as const;
export type QueueName = (typeof PRIORITY_QUEUES)[number];

/**
 * The positions of a queue are numbered: `tail` is the number of the next position to be given out, `head` the number
 * of the next one to be served. Both are in the account's ledger and only grow, so the next job is found by its exact
 * position, however many jobs wait.
 */
export interface QueueState {
  readonly head: number;
  readonly tail: number;
}

/** The queue for the items of batches, which is served after all jobs that callers of the account wait for. */
export const BATCH_QUEUE: QueueName = 'bulk';

export function queueOf(jobClass: JobClass, triedBefore: boolean): QueueName {
  return triedBefore ? `${jobClass}-again` : jobClass;
}

/** The value of a job's `position` field: unique among all jobs. */
export function positionOf(accountId: string, queue: QueueName, number: number): string {
  return `${accountId}/${queue}/${number}`;
}

/** The first given-out positions of a queue: at most `count`, and none of an empty queue. */
export function firstPositions(
  accountId: string,
  queue: QueueName,
  { head, tail }: QueueState,
  count: number,
): string[] {
  return Array.from({ length: Math.min(count, tail - head) }, (_, i) =>
    positionOf(accountId, queue, head + i),
  );
}

/** The jobs at the first of these positions, in order, up to a position without a job of `found`. */
export function atFirst<J extends { readonly position?: string }>(
  positions: readonly string[],
  found: readonly J[],
): J[] {
  const byPosition = new Map(found.map((job) => [job.position, job]));
  const others = positions.findIndex((position) => !byPosition.has(position));
  return positions
    .slice(0, others === -1 ? positions.length : others)
    .map((position) => byPosition.get(position)!);
}
