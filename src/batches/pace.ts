import { type Batch, type PaceMark, pendingOf } from './batch.ts';

/** Parts of a batch after each of which a mark is made. */
const STEPS = 16;

/** Where in the record of a batch a mark is to be made that it does not have yet; undefined when it has all, for now. */
export function dueMark(batch: Pick<Batch, 'total' | 'tallies' | 'marks'>): string | undefined {
  const part = Math.floor((STEPS * endedOf(batch)) / batch.total);
  return batch.marks?.[part] === undefined ? `marks.${part}` : undefined;
}

/**
 * Milliseconds from the end of one item to that of the next, by how the later half of those ended that have: what was
 * before, such as a time in which all slots were elsewhere, says little of what is to come
 * (docs/decisions/0152-pace-of-batches.md).
 *
 * @returns undefined while no item that had begun has ended.
 */
export function paceMs(batch: Batch, now: Date): number | undefined {
  const ended = endedOf(batch);
  if (ended === 0 || batch.startedAt === undefined) return undefined;
  const from = seenFrom(batch, { ended: 0, at: batch.startedAt }, ended, now);
  return Math.max(0, now.getTime() - from.at.getTime()) / (ended - from.ended);
}

/** The latest mark after which half of the items have ended, and half as much time has passed as the first one took. */
function seenFrom({ marks = {} }: Batch, start: PaceMark, ended: number, now: Date): PaceMark {
  const inOrder = Object.values(marks).sort((a, b) => a.ended - b.ended);
  // Items that begin together end together: between two of these passes next to no time, and nothing follows from it.
  const leastMs = ((inOrder[0]?.at.getTime() ?? 0) - start.at.getTime()) / 2;
  const fits = ({ ended: before, at }: PaceMark) =>
    2 * before <= ended && now.getTime() - at.getTime() >= leastMs;
  return inOrder.findLast(fits) ?? start;
}

function endedOf(batch: Pick<Batch, 'total' | 'tallies'>): number {
  return batch.total - pendingOf(batch);
}
