import assert from 'node:assert/strict';
import { KubernetesError } from '../../../../../src/infra/kube/kubernetes-error.ts';
import { WorkQueue, type WorkQueueOptions } from '../../../../../src/infra/kube/queue/work-queue.ts';
import { ManualTimers } from '../../../../support/manual-timers.ts';

/** A queue whose reconciliations last until they are ended, on its own clock. */
function openQueue(options: Partial<WorkQueueOptions> = {}) {
  const timers = new ManualTimers();
  const begun: { key: string; atMs: number; end: (outcome?: Error | number) => void }[] = [];
  const queue = new WorkQueue({
    reconcile: (key) => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
      const end = (outcome?: Error | number) =>
        outcome instanceof Error ? reject(outcome) : resolve(outcome);
      begun.push({ key, atMs: timers.nowMs(), end });
      return promise;
    },
    timers,
    random: () => 1,
    ...options,
  });
  return { queue, timers, begun, keys: () => begun.map(({ key }) => key) };
}

describe('the work queue', () => {
  it('keeps keys until it is started, and reconciles each once however often it was added', async () => {
    const { queue, timers, keys } = openQueue();
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    assert.deepEqual(keys(), []);
    queue.start();
    await timers.pass(0);
    assert.deepEqual(keys(), ['a', 'b']);
  });

  it('reconciles a key once more that was added while it ran, and never one key twice at a time', async () => {
    const { queue, timers, begun, keys } = openQueue();
    queue.start();
    queue.add('a');
    queue.add('a');
    queue.add('a');
    await timers.pass(1000);
    assert.deepEqual(keys(), ['a']);
    begun[0]!.end();
    await timers.pass(0);
    assert.deepEqual(keys(), ['a', 'a']);
    begun[1]!.end();
    await timers.pass(100_000);
    assert.deepEqual(keys(), ['a', 'a']);
  });

  it('runs a bounded number of workers', async () => {
    const { queue, timers, begun, keys } = openQueue({ workers: 2 });
    queue.start();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    await timers.pass(0);
    assert.deepEqual(keys(), ['a', 'b']);
    assert.equal(queue.length, 2);
    begun[1]!.end();
    await timers.pass(0);
    assert.deepEqual(keys(), ['a', 'b', 'c']);
  });

  it('backs off from a key that fails, doubling, and from that key alone', async () => {
    const { queue, timers, begun } = openQueue({ firstRetryMs: 100, maxRetryMs: 500 });
    queue.start();
    queue.add('bad');
    for (let n = 0; n < 5; n += 1) {
      await timers.pass(0);
      begun.at(-1)!.end(new Error('fails'));
      await timers.pass(500);
    }
    assert.deepEqual(
      begun.map(({ atMs }) => atMs),
      // Of the 500 ms of each round 100, 200, 400, 500 and 500 are waited for.
      [0, 100, 700, 1400, 2000, 2500],
    );
  });

  it('forgets the failures of a key that succeeds', async () => {
    const results: number[] = [];
    const { queue, timers, begun } = openQueue({
      firstRetryMs: 100,
      onResult: ({ failures }) => results.push(failures),
    });
    queue.start();
    queue.add('a');
    for (const outcome of [new Error('once'), new Error('twice'), undefined, new Error('anew')]) {
      begun.at(-1)!.end(outcome);
      await timers.pass(200);
      if (outcome === undefined) queue.add('a');
    }
    assert.deepEqual(results, [1, 2, 0, 1]);
    assert.equal(begun.length, 5);
  });

  it('postpones a key for as long as the API server requests', async () => {
    const { queue, timers, begun } = openQueue({ firstRetryMs: 100 });
    queue.start();
    queue.add('a');
    begun[0]!.end(
      new KubernetesError('busy', { status: 429, reason: 'TooManyRequests', retryAfterMs: 7000 }),
    );
    await timers.pass(6999);
    assert.equal(begun.length, 1);
    await timers.pass(1);
    assert.equal(begun.length, 2);
  });

  it('reconciles a key at once that changes during its back-off', async () => {
    const { queue, timers, begun } = openQueue({ firstRetryMs: 10_000 });
    queue.start();
    queue.add('a');
    begun[0]!.end(new Error('invalid'));
    await timers.pass(1);
    queue.add('a');
    await timers.pass(0);
    assert.equal(begun.length, 2);
    begun[1]!.end();
    await timers.pass(100_000);
    assert.equal(begun.length, 2);
  });

  it('reconciles again after the requested time, at the earliest one if there are several', async () => {
    const { queue, timers, begun } = openQueue();
    queue.start();
    queue.addAfter('a', 300);
    queue.addAfter('a', 100);
    queue.addAfter('a', 200);
    await timers.pass(99);
    assert.equal(begun.length, 0);
    await timers.pass(1);
    assert.equal(begun.length, 1);
    begun[0]!.end(50);
    await timers.pass(49);
    assert.equal(begun.length, 1);
    await timers.pass(1);
    assert.equal(begun.length, 2);
    begun[1]!.end();
    await timers.pass(100_000);
    assert.equal(begun.length, 2);
  });

  it('keeps to its rate', async () => {
    const { queue, timers, begun } = openQueue({ perSecond: 10, burst: 5, workers: 1000 });
    queue.start();
    for (let n = 0; n < 100; n += 1) queue.add(`key ${n}`);
    await timers.pass(0);
    assert.equal(begun.length, 5);
    await timers.pass(1000);
    assert.equal(begun.length, 15);
    await timers.pass(8500);
    assert.equal(begun.length, 100);
  });

  it('ends running keys, whose signals abort, and starts no others', async () => {
    const signals: AbortSignal[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const { queue, timers } = openQueue({
      workers: 1,
      reconcile: async (_key, signal) => {
        signals.push(signal);
        await promise;
        return 1;
      },
    });
    queue.start();
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    let stopped = false;
    const stopping = queue.stop().then(() => {
      stopped = true;
    });
    await timers.pass(1000);
    assert.equal(stopped, false);
    assert.equal(signals[0]?.aborted, true);
    resolve();
    await stopping;
    queue.add('d');
    await timers.pass(1000);
    assert.equal(signals.length, 1);
  });
});
