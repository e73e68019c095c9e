import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Turns } from '../../../src/memory/turns.ts';

describe('turns', () => {
  it('let one task of each key run at a time, in the order in which they came', async () => {
    const turns = new Turns();
    const seen: string[] = [];
    const task = (name: string, ms: number) => async () => {
      seen.push(`${name} begins`);
      await sleep(ms);
      seen.push(`${name} ends`);
    };
    await Promise.all([
      turns.run('a', task('first', 20)),
      turns.run('a', task('second', 1)),
      turns.run('b', task('other', 1)),
    ]);
    assert.deepEqual(seen, [
      'first begins',
      'other begins',
      'other ends',
      'first ends',
      'second begins',
      'second ends',
    ]);
  });

  it('pass on when a task fails, and refuse those for whom there is no room to wait', async () => {
    const turns = new Turns(1, () => new Error('full'));
    const failing = turns.run('a', async () => {
      await sleep(5);
      throw new Error('failed');
    });
    const waiting = turns.run('a', async () => 'done');
    await assert.rejects(
      turns.run('a', async () => 'never'),
      { message: 'full' },
    );
    await assert.rejects(failing, { message: 'failed' });
    assert.equal(await waiting, 'done');
    assert.equal(await turns.run('a', async () => 'again'), 'again');
  });
});
