import type { JobClass } from '../bus/bus.ts';

/**
 * The queues that an account's jobs wait in for a plan slot, in the order in which they are served. What is tried again
 * goes before what has never run, and interactive jobs go before bulk ones.
 */
export const LANES = ['interactive-again', 'interactive', 'bulk-again', 'bulk'] as const;
export type Lane = (typeof LANES)[number];

/**
 * A lane is numbered: `tail` is the number of the next place to be given out, `head` that of the next to be served. Both
 * stand in the account's ledger and only ever grow, so whoever is next is found by its exact place, however many wait.
 */
export interface LaneState {
  readonly head: number;
  readonly tail: number;
}

/** The lane that items of batches wait in: behind everything that a caller of their account waits for. */
export const BATCH_LANE: Lane = 'bulk';

export function laneOf(jobClass: JobClass, triedBefore: boolean): Lane {
  return triedBefore ? `${jobClass}-again` : jobClass;
}

/** The value of a job's `place` field: unique among all jobs. */
export function placeOf(accountId: string, lane: Lane, number: number): string {
  return `${accountId}/${lane}/${number}`;
}

/** The first places of a lane that have been given out: `count` of them at most, and none of an empty one. */
export function firstPlaces(
  accountId: string,
  lane: Lane,
  { head, tail }: LaneState,
  count: number,
): string[] {
  return Array.from({ length: Math.min(count, tail - head) }, (_, i) => placeOf(accountId, lane, head + i));
}

/** The jobs that are at the first of these places, in their order, up to one that none of `found` is at. */
export function atFirst<J extends { readonly place?: string }>(
  places: readonly string[],
  found: readonly J[],
): J[] {
  const byPlace = new Map(found.map((job) => [job.place, job]));
  const others = places.findIndex((place) => !byPlace.has(place));
  return places.slice(0, others === -1 ? places.length : others).map((place) => byPlace.get(place)!);
}
