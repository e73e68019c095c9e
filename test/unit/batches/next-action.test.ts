import assert from 'node:assert/strict';
import { type Batch, type BatchSource, chunkSizeOf } from '../../../src/work/batches/batch.ts';
import type { Reading } from '../../../src/work/batches/readings.ts';
import { nextAction } from '../../../src/work/batches/source/next-action.ts';

const NOW = new Date('2026-11-29T12:00:00Z');
const LATER = new Date('2026-11-30T12:00:00Z');
const FACTS = { slots: 10, maxWaiting: 10_000, now: NOW };

/** A batch of 1,000 rows of which so many are items, and so many of those have ended. */
function batchOf(
  read: number,
  ended: number,
  source: Partial<BatchSource> = {},
  rest: Partial<Batch> = {},
): Batch {
  return {
    ...({ phase: 'reading', total: 1000, chunkSize: chunkSizeOf(1000), cancelledAt: null } as Batch),
    tallies: { 0: { completed: ended } },
    source: { read, rows: 1000, deadline: LATER, ...source },
    ...rest,
  };
}
const at = (row: number, rest: Partial<Reading> = {}) => ({ cursor: { offset: row, row }, ...rest });

describe('What the reader of the file of a batch does next', () => {
  it('counts the rows first, then makes items of them, up to the end of a chunk', () => {
    assert.equal(nextAction(batchOf(0, 0), {}, FACTS).kind, 'survey');
    const cursor = { offset: 0, row: 0 };
    assert.deepEqual(nextAction(batchOf(0, 0), at(0), FACTS), {
      kind: 'step',
      cursor,
      rows: 50,
      again: false,
    });
    const next = nextAction(batchOf(30, 30), at(30), FACTS);
    assert.deepEqual(next.kind === 'step' && next.rows, 20);
    assert.equal(nextAction(batchOf(1000, 900), at(1000), FACTS).kind, 'whole');
    assert.equal(nextAction(batchOf(1000, 900, {}, { phase: 'open' }), at(1000), FACTS).kind, 'done');
  });

  it('has twenty rows for each slot ahead, and no more than half of what may wait', () => {
    assert.equal(nextAction(batchOf(150, 0), at(150), FACTS).kind, 'step');
    assert.equal(nextAction(batchOf(200, 0), at(200), FACTS).kind, 'full');
    assert.equal(nextAction(batchOf(200, 50), at(200), FACTS).kind, 'step');
    const few = { ...FACTS, maxWaiting: 20 };
    const step = nextAction(batchOf(0, 0), at(0), few);
    assert.deepEqual(step.kind === 'step' && step.rows, 10);
    assert.equal(nextAction(batchOf(10, 0), at(10), few).kind, 'full');
    assert.equal(
      nextAction(batchOf(0, 0), at(0), { ...FACTS, slots: 0 }).kind,
      'full',
      'a suspended account',
    );
  });

  it('reads the rows of a proof, and waits for the release', () => {
    const step = nextAction(batchOf(0, 0, { proof: 10 }), at(0), FACTS);
    assert.deepEqual(step.kind === 'step' && step.rows, 10);
    assert.equal(nextAction(batchOf(10, 10, { proof: 10 }), at(10), FACTS).kind, 'rest');
    assert.equal(nextAction(batchOf(10, 10, { proof: 10, releasedAt: NOW }), at(10), FACTS).kind, 'step');
  });

  it('rests while it is paused, but completes a step that has begun', () => {
    const paused = batchOf(50, 50, { pausedAt: NOW });
    assert.equal(nextAction(paused, at(50), FACTS).kind, 'rest');
    const again = nextAction(paused, at(50, { begun: 50 }), FACTS);
    assert.deepEqual(again.kind === 'step' && [again.again, again.rows], [true, 50]);
    assert.equal(nextAction(paused, at(50, { begun: 0 }), FACTS).kind, 'rest', 'that step is over');
  });

  it('cuts a batch that is cancelled or late, once it knows what the last step has written', () => {
    const cancelled = batchOf(50, 50, {}, { cancelledAt: NOW });
    assert.deepEqual(nextAction(cancelled, at(50), FACTS), { kind: 'cut', why: 'cancelled' });
    assert.equal(nextAction(cancelled, at(50, { begun: 50 }), FACTS).kind, 'settle');
    assert.deepEqual(nextAction(cancelled, {}, FACTS), { kind: 'cut', why: 'cancelled' });
    const late = batchOf(10, 10, { proof: 10, deadline: NOW });
    assert.deepEqual(nextAction(late, at(10), FACTS), { kind: 'cut', why: 'expired' });
  });
});
