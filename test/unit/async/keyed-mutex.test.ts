import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyedMutex } from '../../../src/infra/async/keyed-mutex.ts';

describe('a keyed mutex', () => {
  it('lets one task of each key run at a time, in the order in which they came', async () => {
    const mutex = new KeyedMutex();
    const seen: string[] = [];
    const task = (name: string, until: Promise<unknown>) => async () => {
      seen.push(`${name} begins`);
      await until;
      seen.push(`${name} ends`);
    };
    const otherHasEnded = Promise.withResolvers<void>();
    await Promise.all([
      mutex.run('a', task('first', otherHasEnded.promise)),
      mutex.run('a', task('second', sleep(1))),
      mutex.run('b', task('other', sleep(1))).then(otherHasEnded.resolve),
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

  it('goes on when a task fails, and rejects tasks for which there is no room to wait', async () => {
    const mutex = new KeyedMutex({ maxWaiting: 1, full: () => new Error('full') });
    const failing = mutex.run('a', async () => {
      await sleep(5);
      throw new Error('failed');
    });
    const waiting = mutex.run('a', async () => 'done');
    await assert.rejects(
      mutex.run('a', async () => 'never'),
      { message: 'full' },
    );
    await assert.rejects(failing, { message: 'failed' });
    assert.equal(await waiting, 'done');
    assert.equal(await mutex.run('a', async () => 'again'), 'again');
  });
});
