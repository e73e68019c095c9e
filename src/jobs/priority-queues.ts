import type { JobClass } from '../bus/bus.ts';

/**
 * The queues that an account's jobs wait in for a plan slot, in the order in which they are served. What is tried again
 * goes before what has never run, and interactive jobs go before bulk ones.
 */
export const PRIORITY_QUEUES = ['interactive-again', 'interactive', 'bulk-again', 'bulk'] as const;
export type QueueName = (typeof PRIORITY_QUEUES)[number];

/**
 * A queue is numbered: `tail` is the number of the next position to be given out, `head` that of the next to be served. Both
 * stand in the account's ledger and only ever grow, so the next job is found by its exact position, however many wait.
 */
export interface QueueState {
  readonly head: number;
  readonly tail: number;
}

/** The queue that items of batches wait in: behind everything that a caller of their account waits for. */
export const BATCH_QUEUE: QueueName = 'bulk';

export function queueOf(jobClass: JobClass, triedBefore: boolean): QueueName {
  return triedBefore ? `${jobClass}-again` : jobClass;
}

/** The value of a job's `place` field: unique among all jobs. */
export function positionOf(accountId: string, queue: QueueName, number: number): string {
  return `${accountId}/${queue}/${number}`;
}

/** The first positions of a queue that have been given out: `count` of them at most, and none of an empty one. */
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

/** The jobs that are at the first of these positions, in their order, up to one that none of `found` is at. */
export function atFirst<J extends { readonly place?: string }>(
  positions: readonly string[],
  found: readonly J[],
): J[] {
  const byPosition = new Map(found.map((job) => [job.place, job]));
  const others = positions.findIndex((position) => !byPosition.has(position));
  return positions
    .slice(0, others === -1 ? positions.length : others)
    .map((position) => byPosition.get(position)!);
}
