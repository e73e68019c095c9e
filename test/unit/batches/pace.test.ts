import assert from 'node:assert/strict';
import { type Batch, chunkSizeOf } from '../../../src/work/batches/batch.ts';
import { estimatedCompletion } from '../../../src/work/batches/batch-record.ts';
import { dueMark } from '../../../src/work/batches/pace.ts';
import { seeded } from '../../chaos/random.ts';

/** Between two counts of what has ended, in milliseconds, as `JobFollowUp` gathers it. */
const COUNTED_EVERY_MS = 250;
const SIZES = [8, 12, 40, 100, 500, 1000];
const CREATED = new Date('2026-01-01T00:00:00Z');

interface Course {
  readonly items: number;
  readonly slots: number;
  /** How long an item takes in its slot, in milliseconds, by a number in [0, 1). */
  readonly takesMs: (random: number) => number;
  /** Between the acceptance and the first item's start. */
  readonly delayMs?: number;
  /** After the first item all slots are elsewhere for so long. */
  readonly elsewhereMs?: number;
}

/** When the items of a batch end, each in the slot that is free first; sorted. */
function endsOf({ items, slots, takesMs, delayMs = 0, elsewhereMs = 0 }: Course, random: () => number) {
  const ends: number[] = [];
  const free = Array<number>(slots).fill(delayMs);
  while (ends.length < items) {
    free.sort((a, b) => a - b);
    const end = free[0]! + takesMs(random());
    ends.push(end);
    free[0] = end;
    if (ends.length === 1 && elsewhereMs > 0) free.fill(end + elsewhereMs);
  }
  return ends.sort((a, b) => a - b);
}

/** What is left of a batch at half of its items, in milliseconds: as it is estimated then, and in truth. */
function halfWay(course: Course, seed: number): { estimated: number; real: number } {
  const ends = endsOf(course, seeded(seed));
  const { items: total, delayMs = 0 } = course;
  let batch = {
    total,
    chunkSize: chunkSizeOf(total),
    phase: 'open',
    createdAt: CREATED,
    expectedSeconds: 0,
    startedAt: new Date(CREATED.getTime() + delayMs),
  } as Batch;
  let ended = 0;
  for (let ms = ends[0]! + COUNTED_EVERY_MS / 2; ; ms += COUNTED_EVERY_MS) {
    while (ended < total && ends[ended]! <= ms) ended += 1;
    const now = new Date(CREATED.getTime() + ms);
    batch = { ...batch, tallies: { 0: { completed: ended } } };
    if (2 * ended >= total) {
      const estimate = estimatedCompletion(batch, now)!.getTime();
      return { estimated: estimate - now.getTime(), real: ends.at(-1)! - ms };
    }
    const mark = ended > 0 ? dueMark(batch) : undefined;
    if (mark === undefined) continue;
    batch = { ...batch, marks: { ...batch.marks, [mark.replace('marks.', '')]: { ended, at: now } } };
  }
}

const EVEN = (random: number) => 4000 + 200 * random;
const UNEVEN = (random: number) => 1000 + 8000 * random;

describe('the estimate of when a batch ends, half-way through', () => {
  /** Of fewer items it is chance what those that are left take. */
  const MANY = 40;
  const courses: Record<string, Omit<Course, 'items' | 'slots'> & { readonly least: number }> = {
    'with items that take the same': { takesMs: EVEN, least: 8 },
    'with items that take from one second to nine': { takesMs: UNEVEN, least: MANY },
    'that waited for ten minutes until it began': { takesMs: EVEN, delayMs: 600_000, least: 8 },
    'whose slots were elsewhere for ten minutes after its first item': {
      takesMs: EVEN,
      elsewhereMs: 600_000,
      least: MANY,
    },
  };
  for (const [name, course] of Object.entries(courses)) {
    it(`is within a factor of two of what is left, for a batch ${name}`, () => {
      for (const slots of [1, 2, 3, 6, 10, 40]) {
        for (const items of SIZES.filter((count) => count >= Math.max(4 * slots, course.least))) {
          for (let seed = 1; seed <= 10; seed += 1) {
            const { estimated, real } = halfWay({ items, slots, ...course }, seed);
            const off = Math.max(estimated / real, real / estimated);
            assert.ok(
              off <= 2,
              `${items} items, ${slots} slots, seed ${seed}: ${estimated} ms, and it was ${real} ms`,
            );
          }
        }
      }
    });
  }
});
