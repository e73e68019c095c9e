import assert from 'node:assert/strict';
import type { JobClass, Seat } from '../../../src/bus/bus.ts';
import { Seats } from '../../../src/worker/seats.ts';

const never = new AbortController().signal;

describe('seats of a worker', () => {
  it('seats no more jobs than there are seats', async () => {
    const seats = new Seats(2);
    const first = await seats.reserve('interactive', never);
    await seats.reserve('bulk', never);
    let third = false;
    const waiting = seats.reserve('interactive', never).then(() => {
      third = true;
    });
    await new Promise(setImmediate);
    assert.equal(third, false);
    first.release();
    await waiting;
    assert.equal(seats.busy, 2);
  });

  it('frees a seat once, however often it is released', async () => {
    const seats = new Seats(1);
    const seat = await seats.reserve('bulk', never);
    seat.release();
    seat.release();
    assert.equal(seats.busy, 0);
    await seats.reserve('bulk', never);
    assert.equal(seats.busy, 1);
  });

  it('seats interactive jobs first, and every fourth time a bulk job that waits', async () => {
    const seats = new Seats(1);
    const taken = await seats.reserve('bulk', never);
    const order: JobClass[] = [];
    const sit = (jobClass: JobClass) =>
      seats.reserve(jobClass, never).then((seat: Seat) => {
        order.push(jobClass);
        setImmediate(() => seat.release());
      });
    const all = [sit('bulk'), sit('bulk'), ...Array.from({ length: 7 }, () => sit('interactive'))];
    taken.release();
    await Promise.all(all);
    const [i, b] = ['interactive', 'bulk'] as const;
    assert.deepEqual(order, [i, i, i, b, i, i, i, b, i]);
  });

  it('lets a reservation that is given up go, and seats the next one', async () => {
    const seats = new Seats(1);
    const taken = await seats.reserve('interactive', never);
    const controller = new AbortController();
    const given = seats.reserve('interactive', controller.signal);
    const next = seats.reserve('interactive', never);
    controller.abort(new Error('stopping'));
    await assert.rejects(given, /stopping/);
    taken.release();
    await next;
    assert.equal(seats.busy, 1);
  });
});
