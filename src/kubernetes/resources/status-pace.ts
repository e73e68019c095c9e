import { isDeepStrictEqual } from 'node:util';

/** How often fields that change all the time are written at most, in milliseconds; metrics have them to the second. */
const COUNTS_EVERY_MS = 10_000;

export interface PacedStatus<S> {
  /** The status to write now; undefined when none is due. */
  readonly write: S | undefined;
  /** Milliseconds after which the rest is due. */
  readonly againAfterMs: number | undefined;
}

/**
 * A status has decisions, which are written at once, and counts, which can wait. A status that is there already is not
 * written again.
 *
 * @param counts the fields that can wait.
 * @param lastWrittenMs when the status was written last; undefined when it was not.
 */
export function pace<S extends object>(
  live: S | undefined,
  wanted: S,
  counts: readonly (keyof S)[],
  lastWrittenMs: number | undefined,
  nowMs: number,
): PacedStatus<S> {
  const plain: S = JSON.parse(JSON.stringify(wanted));
  if (isDeepStrictEqual(live ?? {}, plain)) return { write: undefined, againAfterMs: undefined };
  const waitMs = lastWrittenMs === undefined ? 0 : lastWrittenMs + COUNTS_EVERY_MS - nowMs;
  const decided = isDeepStrictEqual(without(live, counts), without(plain, counts));
  return decided && waitMs > 0
    ? { write: undefined, againAfterMs: waitMs }
    : { write: plain, againAfterMs: undefined };
}

function without<S extends object>(status: S | undefined, fields: readonly (keyof S)[]): object {
  const left = new Set<string>(fields.map(String));
  return Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => !left.has(field)));
}
