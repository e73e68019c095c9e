import assert from 'node:assert/strict';
import type { JobPointer } from '../../../src/infra/bus/bus.ts';
import { ReadAhead } from '../../../src/worker/read-ahead.ts';
import { HeldClock } from '../../support/held-clock.ts';

const never = new AbortController().signal;

describe('pointers that a worker has read ahead', () => {
  const pointer = (jobId: string, version = 1): JobPointer => ({
    jobId,
    version,
    class: 'bulk',
    pool: 'default',
    routingKey: 'a:0',
  });

  it('are one for each job, with the newest version', () => {
    const ahead = new ReadAhead();
    const held = ahead.add(pointer('x', 2));
    assert.equal(ahead.add(pointer('x', 3)), undefined);
    assert.equal(ahead.add(pointer('x', 1)), undefined);
    assert.deepEqual(held?.take(), pointer('x', 3));
    assert.equal(held?.take(), undefined);
    assert.notEqual(ahead.add(pointer('x', 1)), undefined, 'it may come again');
  });

  it('are taken out of one class at once, and not by their former holders', () => {
    const ahead = new ReadAhead();
    const held = ahead.add(pointer('x'))!;
    const other = ahead.add({ ...pointer('y'), class: 'interactive' })!;
    assert.deepEqual(ahead.empty('bulk'), [pointer('x')]);
    assert.deepEqual([held.signal.aborted, other.signal.aborted], [true, false]);
    const again = ahead.add(pointer('x'))!;
    assert.equal(held.take(), undefined);
    assert.deepEqual(again.take(), pointer('x'));
  });

  it('are offered to other workers in turn, when they have been here for a while, and again after another', () => {
    const clock = new HeldClock();
    try {
      const ahead = new ReadAhead();
      for (const id of ['v', 'w', 'x']) ahead.add(pointer(id));
      const next = () =>
        ahead.nextToOffer(1000, 2).map(({ jobId }) => {
          ahead.offered(jobId, 500);
          return jobId;
        });
      clock.nowMs += 999;
      assert.deepEqual(next(), []);
      ahead.add(pointer('y'));
      clock.nowMs += 1;
      // Others may have claimed the first ones long ago: they keep none back that comes after them.
      assert.deepEqual(next(), ['v', 'w']);
      assert.deepEqual(next(), ['x'], 'y has just come');
      clock.nowMs += 999;
      assert.deepEqual(next(), ['y']);
      clock.nowMs += 500;
      assert.deepEqual(next(), [], 'the others have been offered');
      clock.nowMs += 1;
      assert.deepEqual(next(), ['v', 'w']);
      assert.deepEqual(next(), ['x']);
    } finally {
      clock.restore();
    }
  });

  it('are no more of a class than there is room for, and others wait', async () => {
    const ahead = new ReadAhead();
    const rooms = await Promise.all(Array.from({ length: 256 }, () => ahead.room('bulk', never)));
    await ahead.room('interactive', never);
    const stop = new AbortController();
    const given = ahead.room('bulk', stop.signal);
    let got = false;
    const next = ahead.room('bulk', never).then(() => {
      got = true;
    });
    stop.abort(new Error('stopping'));
    await assert.rejects(given, /stopping/);
    await new Promise(setImmediate);
    assert.equal(got, false);
    rooms[0]!.release();
    rooms[0]!.release();
    await next;
    await assert.rejects(ahead.room('bulk', AbortSignal.abort(new Error('before'))), /before/);
  });
});
