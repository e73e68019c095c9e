import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { CancelScope } from '../../../src/render/chromium/cancel-scope.ts';
import { RenderSlots } from '../../../src/render/chromium/contexts/render-slots.ts';

describe('slots', () => {
  let slots: RenderSlots;
  let begun: string[];
  let most: number;
  const ends: CancelScope[] = [];
  const endIn = (ms = 10_000) => {
    const end = new CancelScope(Date.now() + ms, new AbortController().signal);
    ends.push(end);
    return end;
  };
  const launch = async (total: number) => {
    slots = await RenderSlots.launch(total);
  };
  /** A render of this name that does `work`. */
  const run = <T>(name: string, work: () => Promise<T>, end = endIn()) =>
    slots.run(end, async () => {
      begun.push(name);
      most = Math.max(most, slots.busy);
      return await work();
    });
  const nothing = async () => undefined;

  beforeEach(() => {
    begun = [];
    most = 0;
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) end.dispose();
    await slots.close();
  });

  it('are busy while they render', async () => {
    await launch(1);
    assert.equal(await run('a', async () => slots.busy), 1);
    assert.equal(slots.busy, 0);
  });

  it('are granted in order of request, and never more than there are', async () => {
    await launch(2);
    const names = Array.from({ length: 9 }, (_, n) => `${n}`);
    await Promise.all(names.map((name) => run(name, () => pause(10))));
    assert.deepEqual(begun, names);
    assert.equal(most, 2);
    assert.equal(slots.busy, 0);
  });

  it('are not lost when a render that waits for one ends, which never begins', async () => {
    await launch(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const holder = run('holder', () => promise);
    await assert.rejects(run('late', nothing, endIn(10)), { code: 'RENDER_TIMEOUT' });
    resolve();
    await holder;
    await run('next', nothing);
    assert.deepEqual(begun, ['holder', 'next']);
  });

  it('reject a render that has ended already, whether or not a slot is free', async () => {
    await launch(1);
    const ended = () => {
      const end = endIn();
      end.end(new PlatenError('CANCELLED'));
      return end;
    };
    await run('first', nothing);
    await assert.rejects(run('a', nothing, ended()), { code: 'CANCELLED' });
    const holder = run('holder', nothing);
    await assert.rejects(run('b', nothing, ended()), { code: 'CANCELLED' });
    await holder;
    assert.deepEqual(begun, ['first', 'holder']);
    assert.equal(slots.busy, 0);
  });

  it('survive renders that fail', async () => {
    await launch(1);
    for (let i = 0; i < 12; i++) {
      const failed = run('a', async () => {
        throw new PlatenError('RENDER_FAILED');
      });
      await assert.rejects(failed, { code: 'RENDER_FAILED' });
    }
    await run('b', nothing);
    assert.equal(slots.busy, 0);
  });

  it('begin one render after the other without a pause', async () => {
    await launch(1);
    await run('first', nothing);
    const end = endIn();
    // The cluster begins a job by a timer, one in 10 ms at most. It looks for jobs ten times a second as well.
    const timers = mock.method(globalThis, 'setTimeout');
    try {
      for (let i = 0; i < 100; i++) await run('a', nothing, end);
      assert.ok(timers.mock.callCount() < 50);
    } finally {
      timers.mock.restore();
    }
  });

  it('begin as many renders at once as there are slots', async () => {
    await launch(16);
    await Promise.all(
      Array.from({ length: 16 }, () =>
        run('a', async () => {
          while (slots.busy < 16 && most < 16) await pause(1);
        }),
      ),
    );
    assert.equal(most, 16);
  });

  it('come back from renders that end at any moment', async () => {
    await launch(3);
    const renders = Array.from({ length: 600 }, async (_, n) => {
      const end = endIn();
      // Some are left alone: when this process stands still for a while, all the others end at the same moment.
      if (n % 10 !== 0) setTimeout(() => end.end(new PlatenError('CANCELLED')), Math.random() * 600);
      await pause(Math.random() * 300);
      return await run(`${n}`, () => end.race(pause(Math.random() * 4)), end);
    });
    const settled = await Promise.allSettled(renders);
    assert.ok(settled.some(({ status }) => status === 'fulfilled'));
    assert.ok(settled.some(({ status }) => status === 'rejected'));
    assert.equal(most, 3);
    assert.equal(slots.busy, 0);
  });
});
