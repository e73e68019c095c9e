import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import type { DueQueue } from '../../../src/infra/store/due-queue.ts';
import { documentsRead } from '../../support/documents-read.ts';
import { eventually } from '../../support/eventually.ts';
import { startMongo } from '../../support/mongo.ts';
import { StillClock } from '../../support/still-clock.ts';
import { LEASE_MS, openTasks, type Task } from './due-tasks.ts';

const HOLDER = fileURLToPath(new URL('due-holder.ts', import.meta.url));
const RACES = 1000;
/** Races at the same moment. */
const AT_ONCE = 20;
const MANY = 5000;
/** Of a lease that is renewed in earnest: far longer than a renewal takes. */
const SHORT_MS = 6000;

describe('A due-queue', () => {
  const clock = new StillClock();
  let uri: string;
  let connection: Connection;
  /** Another process has a connection of its own. */
  let other: Connection;
  let tasks: DueQueue<Task>;
  let elsewhere: DueQueue<Task>;

  before(async () => {
    ({ uri } = await startMongo());
    const logger = pino({ level: 'silent' });
    [connection, other] = [await connectDatabase(uri, logger), await connectDatabase(uri, logger)];
    tasks = openTasks(connection, clock);
    elsewhere = openTasks(other, clock);
    await ensureIndexes(connection);
  });
  after(async () => {
    await connection.close();
    await other.close();
  });
  beforeEach(async () => {
    await connection.collection('tasks').deleteMany({});
  });

  const inMs = (ms: number) => new Date(clock.now().getTime() + ms);
  const fill = (records: readonly Task[]) =>
    connection.collection<Task>('tasks').insertMany([...records], { ordered: false });
  const schedule = (id: string, ms = -1) => tasks.schedule(id, inMs(ms), { $set: { owner: 'ada' } });
  const claim = async (by = tasks) => by.claim((await by.due(1))[0]!);
  const ids = (some: readonly Task[]) => some.map(({ _id }) => _id);

  it(`gives a record to one of two processes that claim it at the same moment, ${RACES} times`, async () => {
    let first = 0;
    for (let n = 0; n < RACES; n += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, i) => `race-${n + i}`);
      await fill(some.map((_id) => ({ _id, owner: 'ada', dueAt: inMs(-1) })));
      const due = await tasks.due(AT_ONCE);
      assert.deepEqual(ids(due).sort(), some.sort());
      await Promise.all(
        due.map(async (seen) => {
          const claimed = await Promise.all([tasks.claim(seen), elsewhere.claim(seen)]);
          const winners = claimed.filter((one) => one !== undefined);
          assert.deepEqual([winners.length, winners[0]?.fence], [1, 1], seen._id);
          if (claimed[0] !== undefined) first += 1;
          assert.equal(await tasks.remove(winners[0]!), true);
        }),
      );
    }
    assert.ok(first > 0 && first < RACES, `it was no race: the first won ${first} times`);
  });

  it('does all work once when several processes take what is due at the same time', async () => {
    await fill(Array.from({ length: 200 }, (_, i) => ({ _id: `t${i}`, owner: 'ada', dueAt: inMs(-i) })));
    const done: string[] = [];
    const worker = async (queue: DueQueue<Task>) => {
      for (;;) {
        const due = await queue.due(20);
        if (due.length === 0) return;
        for (const seen of due) {
          const claimed = await queue.claim(seen);
          if (claimed === undefined) continue;
          done.push(claimed._id);
          assert.equal(await queue.finish(claimed), true);
        }
      }
    };
    await Promise.all([worker(tasks), worker(elsewhere), worker(tasks), worker(elsewhere)]);
    assert.deepEqual([done.length, new Set(done).size], [200, 200]);
  });

  it('has what is due in the order in which it became due, up to the limit, and nothing else', async () => {
    await fill(
      [3, 1, 5, 2, 4].map((n) => ({
        _id: `t${n}`,
        owner: n === 2 ? 'bob' : 'ada',
        dueAt: inMs((n - 4) * 1000),
      })),
    );
    await fill([{ _id: 'at-rest', owner: 'ada' }]);
    assert.deepEqual(ids(await tasks.due(10)), ['t1', 't2', 't3', 't4']);
    assert.deepEqual(ids(await tasks.due(2)), ['t1', 't2']);
    assert.deepEqual(ids(await tasks.due(2, { owner: { $nin: ['ada'] } })), ['t2']);
    clock.pass(1000);
    assert.equal((await tasks.due(10)).length, 5);
  });

  it(`reads no more than the limit, of ${MANY} that are due and ${MANY} at rest or later`, async () => {
    const record = (i: number): Task => ({
      _id: `t${i}`,
      owner: 'ada',
      ...(i % 2 === 0 ? { dueAt: inMs(-i) } : i % 4 === 1 && { dueAt: inMs(3_600_000) }),
    });
    await fill(Array.from({ length: 2 * MANY }, (_, i) => record(i)));
    const read = await documentsRead(connection, () => tasks.due(20));
    assert.equal(read, 20);
  });

  it('makes a record due again when its lease ends, and rejects later writes of the former holder', async () => {
    await schedule('t');
    const late = (await claim())!;
    assert.deepEqual(await tasks.due(10), []);
    assert.equal(await elsewhere.claim({ _id: 't', owner: 'ada', dueAt: inMs(-1) }), undefined);
    clock.pass(LEASE_MS);
    const next = (await claim(elsewhere))!;
    assert.ok(next.fence! > late.fence!);
    assert.equal(await tasks.renew(late), undefined);
    assert.equal(await tasks.finish(late, { $set: { outcome: 'late' } }), false);
    assert.equal(await tasks.postpone(late, inMs(0)), false);
    assert.equal(await tasks.retryLater(late), false);
    assert.equal(await tasks.remove(late), false);
    assert.deepEqual(await tasks.find('t'), next);
    assert.equal(await elsewhere.finish(next, { $set: { outcome: 'done' } }), true);
    const { outcome, dueAt } = (await tasks.find('t'))!;
    assert.deepEqual([outcome, dueAt], ['done', undefined]);
  });

  it('lets the holder of a lease that has ended finish while nobody has claimed the record', async () => {
    await schedule('t');
    const late = (await claim())!;
    clock.pass(LEASE_MS);
    assert.equal(await tasks.renew(late), undefined, 'a lease that has ended is not prolonged');
    assert.equal(await tasks.finish(late), true);
    assert.deepEqual(await tasks.due(10), []);
  });

  it('prolongs a lease from when it is renewed, and not once the claim has ended', async () => {
    await schedule('t');
    const claimed = (await claim())!;
    clock.pass(LEASE_MS - 1000);
    const renewed = await tasks.renew(claimed, { $set: { owner: 'bob' } });
    assert.deepEqual([renewed?.owner, renewed?.fence], ['bob', claimed.fence]);
    clock.pass(LEASE_MS - 1000);
    assert.deepEqual(await tasks.due(10), []);
    assert.equal(await tasks.postpone(claimed, inMs(3 * LEASE_MS)), true);
    assert.equal(await tasks.renew(claimed), undefined, 'a renewal that comes late changes nothing');
    clock.pass(2 * LEASE_MS);
    assert.deepEqual(await tasks.due(10), []);
  });

  it('renews the lease of what is being worked on until that is over, however it ends', async () => {
    await schedule('t');
    const short = openTasks(connection, clock, SHORT_MS);
    const claimed = (await claim(short))!;
    let renewed = 0;
    await assert.rejects(
      short.holding(claimed, async () => {
        let until = claimed.dueAt!;
        await eventually('it is renewed three times', async () => {
          clock.pass(1);
          const { dueAt } = (await tasks.find('t'))!;
          if (dueAt! > until) renewed += 1;
          until = dueAt!;
          return renewed >= 3;
        });
        assert.equal(await short.finish(claimed), true);
        throw new Error('the work has failed');
      }),
      /the work has failed/,
    );
    assert.equal((await tasks.find('t'))?.dueAt, undefined);
  });

  it('has what is postponed due at that time, and what fails later and later', async () => {
    await schedule('t');
    assert.equal(await tasks.postpone((await claim())!, inMs(5000), { $set: { outcome: 'later' } }), true);
    clock.pass(4000);
    assert.deepEqual(await tasks.due(1), []);
    clock.pass(1000);
    assert.equal((await tasks.due(1))[0]?.outcome, 'later');
    // Half of each wait is certain, and the random part of these is none.
    for (const waits of [500, 1000, 2000, 4000, 4000]) {
      assert.equal(await tasks.retryLater((await claim())!), true);
      clock.pass(waits - 1);
      assert.deepEqual(await tasks.due(1), [], `sooner than ${waits}`);
      clock.pass(1);
    }
    const last = (await claim())!;
    assert.equal(last.failures, 5);
    assert.equal(await tasks.finish(last, { $set: { failures: 0 } }), true);
  });

  it('ends the claim of what is scheduled anew', async () => {
    await schedule('t');
    const claimed = (await claim())!;
    await schedule('t');
    assert.equal(await tasks.finish(claimed), false);
    assert.equal(await tasks.remove(claimed), false);
    assert.ok(await claim());
  });

  it('lets no process claim a record that was changed since it was read', async () => {
    await schedule('t');
    const [seen] = await tasks.due(1);
    assert.equal(await tasks.postpone((await tasks.claim(seen!))!, inMs(-1)), true);
    assert.equal(await tasks.claim(seen!), undefined);
    await schedule('t', 1000);
    assert.equal(await tasks.claim(seen!), undefined);
  });

  describe('whose holder is another process', () => {
    let holder: ChildProcess;
    const said = async () => (await once(holder, 'message'))[0] as unknown;
    beforeEach(async () => {
      await schedule('t');
      holder = fork(HOLDER, [uri, String(clock.now().getTime())], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      assert.deepEqual(await said(), { claimed: 't' });
      assert.deepEqual(await tasks.due(1), []);
    });
    afterEach(() => {
      holder.kill('SIGKILL');
    });

    it('is taken over when that was killed, once its lease has ended', async () => {
      holder.kill('SIGKILL');
      await once(holder, 'exit');
      assert.deepEqual(await tasks.due(1), []);
      clock.pass(LEASE_MS);
      assert.equal(await tasks.finish((await claim())!, { $set: { outcome: 'done' } }), true);
    });

    it('is taken over when the process is stopped, and its later writes are rejected', async () => {
      holder.kill('SIGSTOP');
      clock.pass(LEASE_MS);
      const next = (await claim())!;
      holder.send('finish');
      holder.kill('SIGCONT');
      assert.deepEqual(await said(), { finished: false });
      assert.deepEqual(await tasks.find('t'), next);
      assert.equal(await tasks.finish(next), true);
    });
  });
});
