import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { PoolSlots } from '../../../src/work/pools/pool-slots.ts';
import {
  UNSEEN_AFTER_MS,
  WorkerRegistry,
  type WorkerReport,
} from '../../../src/work/pools/worker-registry.ts';
import { TestClock } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualTimers } from '../../support/manual-timers.ts';
import { startMongo } from '../../support/mongo.ts';

function report(id: string, overrides: Partial<WorkerReport> = {}): WorkerReport {
  return {
    _id: id,
    pool: 'default',
    pod: `pod-${id}`,
    namespace: 'platen',
    node: null,
    slots: 2,
    busy: 0,
    state: 'claiming',
    startedAt: new Date(0),
    sandbox: 'on',
    browser: 'HeadlessChrome/153.0',
    ...overrides,
  };
}

describe('The registry of workers', () => {
  let connection: Connection;
  let clock: TestClock;
  let registry: WorkerRegistry;
  beforeEach(async () => {
    const { uri } = await startMongo();
    connection = await connectDatabase(uri, pino({ level: 'silent' }));
    clock = new TestClock();
    registry = new WorkerRegistry(connection, clock);
  });
  afterEach(() => connection.close());

  it('has the last report of each worker, by pool', async () => {
    await registry.report(report('a'));
    await registry.report(report('b', { pool: 'large' }));
    const { seenAt, ...said } = await registry.report(report('a', { busy: 2, state: 'ending' }));
    assert.deepEqual(said, { ...report('a'), busy: 2, state: 'ending', idle: 0, pauseRequested: false });
    assert.ok(Math.abs(seenAt.getTime() - Date.now()) < 20_000);
    assert.deepEqual((await registry.list()).map(({ _id }) => _id).sort(), ['a', 'b']);
    assert.deepEqual(
      (await registry.list('large')).map(({ _id }) => _id),
      ['b'],
    );
    await registry.remove('a');
    assert.deepEqual(await registry.list('default'), []);
  });

  it('returns its requested state to a worker that reports', async () => {
    for (const id of ['a', 'b', 'c']) await registry.report(report(id));
    await registry.requestPause(['a', 'c', 'nobody']);
    await registry.requestPause([]);
    const wanted = async () =>
      Promise.all(['a', 'b', 'c'].map(async (id) => (await registry.report(report(id))).pauseRequested));
    assert.deepEqual(await wanted(), [true, false, true]);
    assert.deepEqual(await wanted(), [true, false, true], 'a report takes nothing back');
    await registry.cancelPause(['a']);
    assert.deepEqual(await wanted(), [false, false, true]);
    assert.equal((await registry.list()).length, 3, 'asking makes nobody up');
  });

  it('knows how many slots the workers of a pool have, soon after the first query', async () => {
    await registry.report(report('a', { pool: 'large', slots: 7 }));
    const poolSlots = new PoolSlots(registry);
    assert.equal(poolSlots.of('large'), undefined);
    await eventually('it is known', () => poolSlots.of('large') === 7);
    assert.equal(poolSlots.of('nobody'), undefined);
    await registry.remove('a');
    assert.equal(poolSlots.of('large'), 7, 'for as long as nobody says otherwise');
  });

  it('knows the keys that seal in a pool once every worker that is seen has told its own', async () => {
    const key = (name: string) => ({ name, accounts: ['account-a'] });
    assert.equal(await registry.sealKeysOf('default'), undefined);
    await registry.report(report('earlier'));
    await registry.report(report('a', { sealKeys: [key('one')] }));
    await registry.report(report('other', { pool: 'large', sealKeys: [key('large')] }));
    assert.equal(await registry.sealKeysOf('default'), undefined, 'one is of an earlier version');
    clock.pass(UNSEEN_AFTER_MS);
    await registry.report(report('a', { sealKeys: [key('one')] }));
    const { sealKeys: _, ...b } = await registry.report(report('b', { sealKeys: [key('two')] }));
    const told = (await registry.sealKeysOf('default'))?.map(({ name }) => name).sort();
    assert.deepEqual(told, ['one', 'two']);
    assert.ok((await registry.list()).every((worker) => !('sealKeys' in worker)));
    await registry.report({ ...report('b'), sealKeys: null });
    assert.equal(b.state, 'claiming');
    assert.equal(await registry.sealKeysOf('default'), undefined, 'one cannot tell');
  });

  it('knows which workers have not reported lately, and forgets those that ended long ago', async () => {
    const gone = await registry.report(report('gone'));
    clock.pass(UNSEEN_AFTER_MS / 2);
    const here = await registry.report(report('here'));
    assert.deepEqual([registry.isSeen(gone), registry.isSeen(here)], [true, true]);
    clock.pass(UNSEEN_AFTER_MS / 2);
    assert.deepEqual([registry.isSeen(gone), registry.isSeen(here)], [false, true]);
    assert.equal(await registry.forgetUnseen(new Date(clock.now().getTime() - UNSEEN_AFTER_MS)), 1);
    assert.deepEqual(
      (await registry.list()).map(({ _id }) => _id),
      ['here'],
    );
  });

  it('forgets a worker whose clock was ahead once it reports no more, and no other', async () => {
    const timers = new ManualTimers();
    const elsewhere = new WorkerRegistry(connection, clock, timers);
    const ahead = async (id: string) => {
      clock.pass(86_400_000);
      const record = await registry.report(report(id));
      clock.pass(-86_400_000);
      return record;
    };
    const forget = () => elsewhere.forgetUnseen(new Date(0));
    const gone = await ahead('gone');
    for (let reports = 0; reports < 10; reports += 1) {
      assert.equal(elsewhere.isSeen(await ahead('here')), true);
      assert.equal(elsewhere.isSeen(gone), reports * 3000 < UNSEEN_AFTER_MS);
      clock.pass(3000);
      await timers.pass(3000);
    }
    assert.equal(await forget(), 1);
    assert.deepEqual(
      (await registry.list()).map(({ _id }) => _id),
      ['here'],
    );
  });
});
