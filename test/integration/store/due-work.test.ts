import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import type { DueQueue } from '../../../src/infra/store/due-queue.ts';
import { DueWork } from '../../../src/infra/store/due-work.ts';
import { eventually } from '../../support/eventually.ts';
import { startMongo } from '../../support/mongo.ts';
import { StillClock } from '../../support/still-clock.ts';
import { LEASE_MS, openTasks, type Task } from './due-tasks.ts';

const MANY = 1000;
/** Attempts of an owner at the same time. */
const BOUND = 4;

/** The same queue with another query. */
function queriedBy(queue: DueQueue<Task>, due: DueQueue<Task>['due']): DueQueue<Task> {
  return new Proxy(queue, {
    get(target, name) {
      const value = name === 'due' ? due : Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('The loop over a due-queue', () => {
  const clock = new StillClock();
  let connection: Connection;
  /** Another process has a connection of its own. */
  let other: Connection;
  let tasks: DueQueue<Task>;
  let elsewhere: DueQueue<Task>;
  let tried: string[];

  before(async () => {
    const { uri } = await startMongo();
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
    tried = [];
    await connection.collection('tasks').deleteMany({});
  });

  /** Tasks that are due, the first for the longest time. */
  const fill = (ids: readonly string[], owner = 'ada') =>
    connection.collection<Task>('tasks').insertMany(
      ids.map((_id, n) => ({ _id, owner, dueAt: new Date(clock.now().getTime() - 1 - ids.length + n) })),
      { ordered: false },
    );
  const numbered = (count: number, name = 't') => Array.from({ length: count }, (_, n) => `${name}${n}`);
  const dueNow = async () => (await elsewhere.due(MANY)).map(({ _id }) => _id);
  const attemptBy =
    (queue: DueQueue<Task>, meanwhile?: (task: Task) => unknown) =>
    async (task: Task): Promise<string> => {
      tried.push(task._id);
      await meanwhile?.(task);
      await queue.remove(task);
      return task._id;
    };
  const workOn = (meanwhile?: (task: Task) => unknown, perQuery = 10) =>
    new DueWork({ queue: tasks, perQuery, attempt: attemptBy(tasks, meanwhile) });
  /** As `workOn`, with at most BOUND attempts of an owner at the same time, and twice as many of all. */
  function boundedWork(queue: DueQueue<Task>, meanwhile?: (task: Task) => unknown) {
    const owners: string[] = [];
    const mostOfOwner = { ada: 0, bob: 0 } as Record<string, number>;
    const errors: unknown[] = [];
    const isFull = (owner: string) => owners.filter((one) => one === owner).length >= BOUND;
    const work = new DueWork({
      queue,
      perQuery: 10,
      bounds: {
        free: () => 2 * BOUND - owners.length,
        due: (limit) => queue.due(limit, { owner: { $nin: ['ada', 'bob'].filter(isFull) } }),
        reserve({ owner }) {
          if (isFull(owner)) return undefined;
          owners.push(owner);
          mostOfOwner[owner] = Math.max(mostOfOwner[owner]!, owners.filter((one) => one === owner).length);
          return { release: () => void owners.splice(owners.indexOf(owner), 1) };
        },
      },
      attempt: attemptBy(queue, meanwhile),
      onError: (error, { _id }) => {
        errors.push(error);
        return _id;
      },
    });
    return { work, mostOfOwner, errors };
  }

  describe('in passes', () => {
    it('attempt what one query finds, one after another, the longest due first', async () => {
      await fill(numbered(5));
      let now = 0;
      const work = workOn(async () => {
        now += 1;
        assert.equal(now, 1);
        await tasks.due(1);
        now -= 1;
      }, 3);
      assert.deepEqual(await work.pass(), ['t0', 't1', 't2']);
      assert.deepEqual(
        [tried, await dueNow()],
        [
          ['t0', 't1', 't2'],
          ['t3', 't4'],
        ],
      );
    });

    it('do nothing when nothing is due', async () => {
      await tasks.schedule('later', new Date(clock.now().getTime() + 1), { $set: { owner: 'ada' } });
      assert.deepEqual([await workOn().pass(), tried], [[], []]);
      assert.equal((await tasks.find('later'))?.fence, 1, 'only the one who scheduled it has written');
    });

    it('leave out what another process claims after the query', async () => {
      await fill(numbered(3));
      const work = workOn(async ({ _id }) => {
        if (_id === 't0') await elsewhere.claim((await elsewhere.find('t1'))!);
      });
      assert.deepEqual(await work.pass(), ['t0', 't2']);
      assert.deepEqual([await dueNow(), (await tasks.find('t1'))?.fence], [[], 1]);
    });

    it('leave what becomes due meanwhile for the next one', async () => {
      await fill(['t0']);
      const work = workOn(({ _id }) => (_id === 't0' ? fill(['new']) : undefined));
      assert.deepEqual(await work.pass(), ['t0']);
      assert.deepEqual(await work.pass(), ['new']);
    });

    it('end with the error of an attempt, whose record is due again when its lease ends', async () => {
      await fill(numbered(3));
      const work = workOn(({ _id }) => {
        if (_id === 't1' && tried.length === 2) throw new Error('t1');
      });
      await assert.rejects(work.pass(), { message: 't1' });
      assert.deepEqual(await dueNow(), ['t2']);
      clock.pass(LEASE_MS);
      assert.deepEqual(await work.pass(), ['t2', 't1']);
    });

    it('wait for all attempts at the same time, also when one throws', async () => {
      await fill(numbered(4));
      let others = 0;
      const attempt = async ({ _id }: Task) => {
        if (_id === 't0') throw new Error('t0');
        await tasks.due(1);
        others += 1;
      };
      const work = new DueWork({ queue: tasks, perQuery: 10, atOnce: 10, attempt });
      await assert.rejects(work.pass(), { message: 't0' });
      assert.equal(others, 3);
    });

    it('continue after an attempt that throws when the policy says what follows', async () => {
      await fill(numbered(3));
      const work = new DueWork<Task, string>({
        queue: tasks,
        perQuery: 10,
        attempt: attemptBy(tasks, ({ _id }) => {
          if (_id === 't0') throw new Error('t0');
        }),
        onError: async (error, task) => `${await tasks.retryLater(task)} ${(error as Error).message}`,
      });
      assert.deepEqual(await work.pass(), ['true t0', 't1', 't2']);
      assert.equal((await tasks.find('t0'))?.failures, 1);
      clock.pass(8000);
      assert.deepEqual(
        await dueNow(),
        ['t0'],
        'after the wait of its queue, before the lease would have ended',
      );
    });

    it('claim nothing more when they are stopped, and are waited for', async () => {
      await fill(numbered(3));
      let stopped: Promise<void> | undefined;
      const work = workOn(async () => {
        stopped = work.stop(60_000).then(() => void tried.push('stopped'));
        await tasks.due(1);
      });
      assert.deepEqual(await work.pass(), ['t0']);
      await stopped;
      assert.deepEqual(
        [tried, await dueNow()],
        [
          ['t0', 'stopped'],
          ['t1', 't2'],
        ],
      );
      assert.deepEqual(await work.pass(), []);
    });

    it('abort an attempt that takes longer than a stop waits', async () => {
      await fill(['t0']);
      const work = new DueWork({
        queue: tasks,
        perQuery: 10,
        async attempt(_task, signal) {
          void work.stop(0);
          await once(signal, 'abort');
        },
      });
      await work.pass();
      assert.deepEqual(await dueNow(), []);
      clock.pass(LEASE_MS);
      assert.deepEqual(await dueNow(), ['t0']);
    });

    it('renew a claim for as long as its attempt lasts, if they are to', async () => {
      for (const renews of [true, false]) {
        const short = openTasks(connection, clock, 300);
        await short.schedule('long', clock.now(), { $set: { owner: 'ada' } });
        const work = new DueWork({
          queue: short,
          perQuery: 1,
          renews,
          async attempt(task) {
            for (let n = 0; n < 3; n += 1) {
              clock.pass(200);
              const end = clock.now().getTime() + 300;
              const isRenewed = async () => (await short.find('long'))!.dueAt!.getTime() === end;
              if (renews) await eventually('it is renewed', isRenewed);
              else await sleep(150);
            }
            const [seen] = await elsewhere.due(1);
            const taken = seen && (await elsewhere.claim(seen));
            return [taken !== undefined, await short.remove(task)];
          },
        });
        assert.deepEqual(await work.pass(), [[!renews, renews]]);
      }
    });

    it(`attempt each of ${MANY} once in two processes at the same time`, async () => {
      await fill(numbered(MANY));
      const one = async (queue: DueQueue<Task>) => {
        const work = new DueWork({ queue, perQuery: 20, atOnce: 20, attempt: attemptBy(queue) });
        let count = 0;
        for (let left = 1; left > 0; left = (await dueNow()).length) count += (await work.pass()).length;
        return count;
      };
      const counts = await Promise.all([one(tasks), one(elsewhere)]);
      assert.ok(Math.min(...counts) > 0, `it was no race: ${counts}`);
      assert.deepEqual(tried.sort(), numbered(MANY).sort());
    });
  });

  describe('without waiting', () => {
    it('fills the bounds, leaves no owner out, and goes on as attempts end', async () => {
      await fill(numbered(40, 'ada'), 'ada');
      await fill(numbered(8, 'bob'), 'bob');
      const { promise: go, resolve } = Promise.withResolvers<void>();
      const { work, mostOfOwner } = boundedWork(tasks, () => go);
      await work.keepUp();
      assert.deepEqual(tried, [...numbered(BOUND, 'ada'), ...numbered(BOUND, 'bob')]);
      resolve();
      await work.idle();
      assert.deepEqual(tried.sort(), [...numbered(40, 'ada'), ...numbered(8, 'bob')].sort());
      assert.deepEqual([mostOfOwner, work.foundNone], [{ ada: BOUND, bob: BOUND }, true]);
    });

    it('takes what has become due while others are attempted', async () => {
      await fill(['t0']);
      const { work } = boundedWork(tasks, ({ _id }) => (_id === 't0' ? fill(['new']) : undefined));
      await work.keepUp();
      await work.idle();
      assert.deepEqual(tried, ['t0', 'new']);
    });

    it('goes on after a full page that another process has claimed first', async () => {
      await fill(numbered(BOUND, 'ada'), 'ada');
      await fill([...numbered(BOUND, 'bob'), 'last'], 'bob');
      let queries = 0;
      const late = queriedBy(tasks, async (limit, filter) => {
        queries += 1;
        const due = await tasks.due(limit, filter);
        if (queries === 1) for (const seen of due) await elsewhere.claim(seen);
        return due;
      });
      const { work } = boundedWork(late);
      await work.keepUp();
      await work.idle();
      assert.deepEqual(tried, ['last']);
    });

    it('queries once more for all who ask during a query', async () => {
      let queries = 0;
      const counted = queriedBy(tasks, (limit, filter) => {
        queries += 1;
        return tasks.due(limit, filter);
      });
      const { work } = boundedWork(counted);
      await Promise.all(Array.from({ length: 5 }, () => work.keepUp()));
      assert.equal(queries, 2);
    });

    it('reports an attempt that throws, and a query after it that fails, and goes on', async () => {
      await fill(numbered(2));
      const { work, errors } = boundedWork(tasks, ({ _id }) => {
        if (_id === 't0') throw new Error('t0');
      });
      await work.keepUp();
      await work.idle();
      assert.deepEqual([tried, errors], [['t0', 't1'], [new Error('t0')]]);

      await fill(['t2']);
      const failing = queriedBy(tasks, (limit, filter) =>
        tried.includes('t2') ? Promise.reject(new Error('no database')) : tasks.due(limit, filter),
      );
      const { work: later, errors: laterErrors } = boundedWork(failing);
      await later.keepUp().catch(() => undefined);
      await later.idle();
      assert.deepEqual([tried, laterErrors.at(-1)], [['t0', 't1', 't2'], new Error('no database')]);
    });

    it('begins nothing more when it is stopped, and resolves when all has ended', async () => {
      await fill(numbered(10));
      const { promise: go, resolve } = Promise.withResolvers<void>();
      const { work } = boundedWork(tasks, () => go);
      await work.keepUp();
      const stopped = work.stop(60_000).then(() => void tried.push('stopped'));
      resolve();
      await stopped;
      await work.keepUp();
      assert.deepEqual([tried, await dueNow()], [[...numbered(BOUND), 'stopped'], numbered(10).slice(BOUND)]);
    });

    it(`attempts each of ${MANY} once in two processes at the same time`, async () => {
      await fill(numbered(MANY));
      const both = [boundedWork(tasks), boundedWork(elsewhere)];
      await Promise.all(both.map(({ work }) => work.keepUp()));
      await eventually('all are attempted', () => tried.length >= MANY);
      await Promise.all(both.map(({ work }) => work.idle()));
      assert.deepEqual(tried.sort(), numbered(MANY).sort());
      assert.deepEqual(
        both.flatMap(({ errors }) => errors),
        [],
      );
    });
  });
});
