import assert from 'node:assert/strict';
import { Semaphore } from '../../../src/infra/async/semaphore.ts';

describe('a semaphore with a bounded queue', () => {
  const full = () => new Error('full');

  it('runs a number of tasks at a time, the others in order, and rejects the rest', async () => {
    const semaphore = new Semaphore(2, { maxWaiting: 3, full });
    const order: number[] = [];
    let running = 0;
    const enter = (n: number) =>
      semaphore.run(async () => {
        running += 1;
        assert.ok(running <= 2);
        order.push(n);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      });
    const outcomes = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map(enter));
    assert.deepEqual(order, [0, 1, 2, 3, 4]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      [...Array(5).fill('fulfilled'), 'rejected', 'rejected'],
    );
    assert.ok(semaphore.idle);
  });

  it('passes the permit on when a task fails', async () => {
    const semaphore = new Semaphore(1, { maxWaiting: 1, full });
    const failing = semaphore.run(async () => {
      throw new Error('failed');
    });
    const next = semaphore.run(async () => 'done');
    await assert.rejects(failing, /failed/);
    assert.equal(await next, 'done');
    assert.ok(semaphore.idle);
  });
});
