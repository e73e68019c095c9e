import assert from 'node:assert/strict';
import { Gate } from '../../../src/memory/gate.ts';

describe('a gate', () => {
  const full = () => new Error('full');

  it('lets so many through at a time, the others in turn, and refuses the rest', async () => {
    const gate = new Gate(2, 3);
    const order: number[] = [];
    let running = 0;
    const enter = (n: number) =>
      gate.run(async () => {
        running += 1;
        assert.ok(running <= 2);
        order.push(n);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      }, full);
    const outcomes = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map(enter));
    assert.deepEqual(order, [0, 1, 2, 3, 4]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      [...Array(5).fill('fulfilled'), 'rejected', 'rejected'],
    );
    assert.ok(gate.idle);
  });

  it('passes the place on when a task fails', async () => {
    const gate = new Gate(1, 1);
    const failing = gate.run(async () => {
      throw new Error('failed');
    }, full);
    const next = gate.run(async () => 'done', full);
    await assert.rejects(failing, /failed/);
    assert.equal(await next, 'done');
    assert.ok(gate.idle);
  });
});
