import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { CancelScope } from '../../../src/render/chromium/cancel-scope.ts';
import type { RenderContext } from '../../../src/render/chromium/contexts/render-context.ts';
import { RenderSlots } from '../../../src/render/chromium/contexts/render-slots.ts';
import type { ContextLender } from '../../../src/render/chromium/contexts/slot-job.ts';

/** The pool of contexts as slots see it, noting what is done with which account's context. */
class NotedContexts implements ContextLender {
  readonly log: string[] = [];
  held = 0;
  most = 0;
  /** Fails the next call of this name. */
  fails: 'lease' | 'keep' | 'discard' | undefined;

  async lease({ accountId }: { readonly accountId: string }): Promise<RenderContext> {
    await this.#note('lease', accountId);
    this.most = Math.max(this.most, ++this.held);
    return { accountId } as unknown as RenderContext;
  }

  async keep({ accountId }: RenderContext): Promise<void> {
    this.held--;
    await this.#note('keep', accountId);
  }

  async discard({ accountId }: RenderContext): Promise<void> {
    this.held--;
    await this.#note('discard', accountId);
  }

  async #note(what: 'lease' | 'keep' | 'discard', accountId: string): Promise<void> {
    await pause(0);
    this.log.push(`${what} ${accountId}`);
    if (this.fails !== what) return;
    this.fails = undefined;
    throw new Error(`${what} failed`);
  }
}

describe('slots', () => {
  let contexts: NotedContexts;
  let slots: RenderSlots;
  const ends: CancelScope[] = [];
  const endIn = (ms = 10_000) => {
    const end = new CancelScope(Date.now() + ms, new AbortController().signal);
    ends.push(end);
    return end;
  };
  const launch = async (total: number) => {
    slots = await RenderSlots.launch(total, contexts);
  };
  /** A render for `accountId` that does `work`. */
  const run = (accountId: string, work: () => Promise<boolean>, end = endIn()) =>
    slots.run({ accountId, needsFrames: false }, end, work);
  const clean = async () => true;

  beforeEach(() => {
    contexts = new NotedContexts();
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) end.dispose();
    await slots.close();
  });

  it('hold a context while they render, and give it back before the render has ended', async () => {
    await launch(1);
    await run('a', async () => {
      assert.deepEqual(contexts.log, ['lease a']);
      assert.equal(slots.busy, 1);
      return true;
    });
    assert.deepEqual(contexts.log, ['lease a', 'keep a']);
    assert.equal(slots.busy, 0);
  });

  it('end a context that did not come clean, or whose render failed', async () => {
    await launch(1);
    await run('a', async () => false);
    await assert.rejects(
      run('b', async () => {
        throw new PlatenError('RENDER_FAILED');
      }),
      { code: 'RENDER_FAILED' },
    );
    assert.deepEqual(contexts.log, ['lease a', 'discard a', 'lease b', 'discard b']);
  });

  it('are granted in order of request, and never more than there are', async () => {
    await launch(2);
    const order: number[] = [];
    const renders = Array.from({ length: 9 }, (_, n) =>
      run(`account-${n}`, async () => {
        order.push(n);
        assert.ok(slots.busy <= 2);
        await pause(10);
        return true;
      }),
    );
    await Promise.all(renders);
    assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert.equal(contexts.most, 2);
    assert.equal(slots.busy, 0);
  });

  it('are not lost when a render that waits for one ends, which leases nothing', async () => {
    await launch(1);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const holder = run('holder', () => promise);
    await assert.rejects(run('late', clean, endIn(10)), { code: 'RENDER_TIMEOUT' });
    resolve(true);
    await holder;
    await run('next', clean);
    assert.deepEqual(contexts.log, ['lease holder', 'keep holder', 'lease next', 'keep next']);
  });

  it('reject a render that has ended already, whether or not a slot is free', async () => {
    await launch(1);
    const ended = () => {
      const end = endIn();
      end.end(new PlatenError('CANCELLED'));
      return end;
    };
    await run('warm', clean);
    await assert.rejects(run('a', clean, ended()), { code: 'CANCELLED' });
    const holder = run('holder', clean);
    await assert.rejects(run('b', clean, ended()), { code: 'CANCELLED' });
    await holder;
    assert.deepEqual(contexts.log, ['lease warm', 'keep warm', 'lease holder', 'keep holder']);
    assert.equal(slots.busy, 0);
  });

  for (const step of ['lease', 'keep', 'discard'] as const) {
    it(`survive a ${step} that fails: it fails its own render alone`, async () => {
      await launch(1);
      for (let i = 0; i < 12; i++) {
        contexts.fails = step;
        await assert.rejects(
          run('a', async () => step !== 'discard'),
          new Error(`${step} failed`),
        );
      }
      await run('b', clean);
      assert.equal(slots.busy, 0);
      assert.equal(contexts.held, 0);
    });
  }

  it('begin one render after the other without a pause', async () => {
    await launch(1);
    await run('warm', clean);
    // The cluster by itself begins one job in 10 ms at most: it has a timer wait for what is left of them.
    const timers = mock.method(globalThis, 'setTimeout');
    try {
      for (let i = 0; i < 100; i++) await run('a', clean);
      const waits = timers.mock.calls.map(({ arguments: [, ms = 0] }) => ms);
      assert.ok(waits.length >= 100);
      assert.deepEqual(
        waits.filter((ms) => ms > 1 && ms <= 10),
        [],
      );
    } finally {
      timers.mock.restore();
    }
  });

  it('begin as many renders at once as there are slots', async () => {
    await launch(16);
    await Promise.all(
      Array.from({ length: 16 }, () =>
        run('a', async () => {
          while (contexts.most < 16) await pause(1);
          return true;
        }),
      ),
    );
  });

  it('come back from renders that end at any moment', async () => {
    await launch(3);
    const renders = Array.from({ length: 600 }, async (_, n) => {
      const end = endIn();
      // Some are left alone: when this process stands still for a while, all the others end at the same moment.
      if (n % 10 !== 0) setTimeout(() => end.end(new PlatenError('CANCELLED')), Math.random() * 600);
      await pause(Math.random() * 300);
      if (n % 7 === 0) contexts.fails = 'lease';
      return await run(`${n}`, () => end.race(pause(Math.random() * 4).then(() => n % 2 === 0)), end);
    });
    const settled = await Promise.allSettled(renders);
    assert.ok(settled.some(({ status }) => status === 'fulfilled'));
    assert.ok(settled.some(({ status }) => status === 'rejected'));
    assert.equal(contexts.most, 3);
    assert.equal(contexts.held, 0);
    assert.equal(slots.busy, 0);
  });
});
