import { type Batch, type PaceMark, pendingOf } from './batch.ts';

/** The number of parts of a batch after which its progress is recorded. */
const STEPS = 16;

/** The path of the mark that is due in the record of a batch; undefined when that mark is set already. */
export function dueMark(batch: Pick<Batch, 'total' | 'tallies' | 'marks'>): string | undefined {
  const part = Math.floor((STEPS * endedOf(batch)) / batch.total);
  return batch.marks?.[part] === undefined ? `marks.${part}` : undefined;
}

/**
 * Milliseconds between the ends of two items, measured over the later half of the ended items: the time before, for
 * example while other jobs held all slots, says little about the future (docs/decisions/0152-pace-of-batches.md).
 *
 * @returns undefined while no item that had begun has ended.
 */
export function paceMs(batch: Batch, now: Date): number | undefined {
  const ended = endedOf(batch);
  if (ended === 0 || batch.startedAt === undefined) return undefined;
  const from = seenFrom(batch, { ended: 0, at: batch.startedAt }, ended, now);
  return Math.max(0, now.getTime() - from.at.getTime()) / (ended - from.ended);
}

/** The latest mark by which at most half of the items had ended, older than half the time to the first mark. */
function seenFrom({ marks = {} }: Batch, start: PaceMark, ended: number, now: Date): PaceMark {
  const inOrder = Object.values(marks).sort((a, b) => a.ended - b.ended);
  // Items that begin together end together: the short time between their ends does not show the pace.
  const leastMs = ((inOrder[0]?.at.getTime() ?? 0) - start.at.getTime()) / 2;
  const fits = ({ ended: before, at }: PaceMark) =>
    2 * before <= ended && now.getTime() - at.getTime() >= leastMs;
  return inOrder.findLast(fits) ?? start;
}

function endedOf(batch: Pick<Batch, 'total' | 'tallies'>): number {
  return batch.total - pendingOf(batch);
}
