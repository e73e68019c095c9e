import assert from 'node:assert/strict';
import type { JobClass, Slot } from '../../../src/bus/bus.ts';
import { WorkerSlots } from '../../../src/worker/slots.ts';

const never = new AbortController().signal;

describe('slots of a worker', () => {
  it('gives out no more slots than there are', async () => {
    const slots = new WorkerSlots(2);
    const first = await slots.reserve('interactive', never);
    await slots.reserve('bulk', never);
    let third = false;
    const waiting = slots.reserve('interactive', never).then(() => {
      third = true;
    });
    await new Promise(setImmediate);
    assert.equal(third, false);
    first.release();
    await waiting;
    assert.equal(slots.busy, 2);
  });

  it('frees a slot once, however often it is released', async () => {
    const slots = new WorkerSlots(1);
    const slot = await slots.reserve('bulk', never);
    slot.release();
    slot.release();
    assert.equal(slots.busy, 0);
    await slots.reserve('bulk', never);
    assert.equal(slots.busy, 1);
  });

  it('gives slots to interactive jobs first, and every fourth time a bulk job that waits', async () => {
    const slots = new WorkerSlots(1);
    const taken = await slots.reserve('bulk', never);
    const order: JobClass[] = [];
    const reserve = (jobClass: JobClass) =>
      slots.reserve(jobClass, never).then((slot: Slot) => {
        order.push(jobClass);
        setImmediate(() => slot.release());
      });
    const all = [
      reserve('bulk'),
      reserve('bulk'),
      ...Array.from({ length: 7 }, () => reserve('interactive')),
    ];
    taken.release();
    await Promise.all(all);
    const [i, b] = ['interactive', 'bulk'] as const;
    assert.deepEqual(order, [i, i, i, b, i, i, i, b, i]);
  });

  it('lets a reservation that is given up go, and gives the slot to the next one', async () => {
    const slots = new WorkerSlots(1);
    const taken = await slots.reserve('interactive', never);
    const controller = new AbortController();
    const given = slots.reserve('interactive', controller.signal);
    const next = slots.reserve('interactive', never);
    controller.abort(new Error('stopping'));
    await assert.rejects(given, /stopping/);
    taken.release();
    await next;
    assert.equal(slots.busy, 1);
  });
});
