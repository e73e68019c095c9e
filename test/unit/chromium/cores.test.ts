import assert from 'node:assert/strict';
import { Cores, coresOfMachine, defaultSlots } from '../../../src/chromium/cores.ts';
import type { RenderClass } from '../../../src/chromium/renderer.ts';

const never = new AbortController().signal;

describe('cores', () => {
  it('are taken by so many renders at a time', async () => {
    const cores = new Cores(2);
    await cores.take('interactive', never);
    assert.equal(cores.tryTake(), true);
    assert.equal(cores.tryTake(), false);
    assert.deepEqual([cores.idle, cores.wanted], [0, false]);
    const third = cores.take('bulk', never);
    assert.equal(cores.wanted, true);
    cores.release();
    await third;
    assert.deepEqual([cores.idle, cores.wanted], [0, false]);
  });

  it('go to interactive renders first, and every fourth time to a bulk one that waits', async () => {
    const cores = new Cores(1);
    assert.equal(cores.tryTake(), true);
    const order: RenderClass[] = [];
    const take = (renderClass: RenderClass) =>
      cores.take(renderClass, never).then(() => {
        order.push(renderClass);
        cores.release();
      });
    const all = [take('bulk'), take('bulk'), ...Array.from({ length: 7 }, () => take('interactive'))];
    cores.release();
    await Promise.all(all);
    const [i, b] = ['interactive', 'bulk'] as const;
    assert.deepEqual(order, [i, i, i, b, i, i, i, b, i]);
  });

  it('are not given to a render that has ended while it waited', async () => {
    const cores = new Cores(1);
    assert.equal(cores.tryTake(), true);
    const ending = new AbortController();
    const given = cores.take('interactive', ending.signal);
    const next = cores.take('interactive', never);
    ending.abort(new Error('cancelled'));
    await assert.rejects(given, /cancelled/);
    await assert.rejects(cores.take('interactive', ending.signal), /cancelled/);
    cores.release();
    await next;
    assert.equal(cores.idle, 0);
  });

  it('tell how many renders are at rest', () => {
    const told: number[] = [];
    const cores = new Cores(1, (renders) => told.push(renders));
    cores.rest(1);
    cores.rest(1);
    cores.rest(-1);
    assert.deepEqual(told, [1, 2, 1]);
  });
});

describe('slots where nothing is said of them', () => {
  const GIB = 1024 ** 3;
  const cores = coresOfMachine();

  it('are eight for each core, or what there is memory for', () => {
    assert.equal(defaultSlots(1024 * GIB), Math.min(256, cores * 8));
    assert.equal(defaultSlots(GIB), Math.max(cores, 2));
    assert.equal(defaultSlots(0.1 * GIB), cores);
  });
});
