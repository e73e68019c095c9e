import assert from 'node:assert/strict';
import { JobEnd } from '../../../src/chromium/job-end.ts';
import { RenderSeats } from '../../../src/chromium/pool/seats.ts';

const never = new Promise<never>(() => undefined);

describe('the end of a job', () => {
  it('comes with its deadline', async () => {
    const end = new JobEnd(Date.now() + 20, new AbortController().signal);
    await assert.rejects(end.race(never), { code: 'RENDER_TIMEOUT' });
    assert.equal(end.signal.aborted, true);
  });

  it('is named after what was being waited for', async () => {
    const end = new JobEnd(Date.now() + 20, new AbortController().signal);
    await assert.rejects(end.raceAs('SELECTOR_TIMEOUT', 'no such thing', never), {
      code: 'SELECTOR_TIMEOUT',
      message: 'no such thing',
    });
  });

  it('comes with its signal, and the first reason stands', async () => {
    const cancel = new AbortController();
    const end = new JobEnd(Date.now() + 20, cancel.signal);
    cancel.abort();
    await assert.rejects(end.race(never), { code: 'CANCELLED' });
    await new Promise((resolve) => setTimeout(resolve, 40));
    assert.equal(end.error?.code, 'CANCELLED');
  });

  it('lets what is done in time through', async () => {
    const end = new JobEnd(Date.now() + 1000, new AbortController().signal);
    assert.equal(await end.race(Promise.resolve(1)), 1);
    end.dispose();
  });
});

describe('seats', () => {
  const open = () => new JobEnd(Date.now() + 1000, new AbortController().signal);

  it('are given in turn, and never more than there are', async () => {
    const seats = new RenderSeats(1);
    const ends = [open(), open(), open()];
    const order: number[] = [];
    const first = await seats.take(ends[0]!);
    const waiting = [1, 2].map(async (n) => {
      const release = await seats.take(ends[n]!);
      order.push(n);
      return release;
    });
    assert.equal(seats.busy, 1);
    first();
    first();
    (await waiting[0]!)();
    (await waiting[1]!)();
    assert.deepEqual(order, [1, 2]);
    assert.equal(seats.busy, 0);
    for (const end of ends) end.dispose();
  });

  it('are not lost when who waits for one ends', async () => {
    const seats = new RenderSeats(1);
    const [holder, late] = [open(), new JobEnd(Date.now() + 10, new AbortController().signal)];
    const release = await seats.take(holder);
    await assert.rejects(seats.take(late), { code: 'RENDER_TIMEOUT' });
    release();
    assert.equal(seats.busy, 0);
    holder.dispose();
  });
});
