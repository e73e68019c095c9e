import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { Collection } from '../../../src/infra/store/collection.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { DueQueue } from '../../../src/infra/store/due-queue.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { BatchStore } from '../../../src/work/batches/batch-store.ts';
import { DeliveryStore } from '../../../src/work/callbacks/delivery-store.ts';
import { IdempotencyStore } from '../../../src/work/jobs/idempotency-store.ts';
import { ManualTimers } from '../../support/manual-timers.ts';
import { startMongo } from '../../support/mongo.ts';
import { StillClock } from '../../support/still-clock.ts';
import { LEASE_MS, TASKS, type Task } from './due-tasks.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe('What a machine has left behind whose clock was a day ahead', () => {
  let clock: StillClock;
  let timers: ManualTimers;
  let connection: Connection;
  const warnings: string[] = [];
  beforeEach(async () => {
    clock = new StillClock();
    timers = new ManualTimers();
    const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
    connection = await connectDatabase((await startMongo()).uri, logger);
  });
  afterEach(() => connection.close());

  async function ahead<T>(work: () => Promise<T>): Promise<T> {
    clock.pass(DAY_MS);
    try {
      return await work();
    } finally {
      clock.pass(-DAY_MS);
    }
  }
  async function pass(ms: number): Promise<void> {
    clock.pass(ms);
    await timers.pass(ms);
  }

  describe('in a due-queue', () => {
    let tasks: DueQueue<Task>;
    beforeEach(async () => {
      const options = { leaseMs: LEASE_MS, longestMs: HOUR_MS, timers };
      tasks = new DueQueue(new Collection<Task>(connection, TASKS), clock, options);
      await ensureIndexes(connection);
    });
    const due = async () => (await tasks.due(10)).map(({ _id }) => _id);
    const now = () => clock.now();

    it('is due once it has not changed for the length of a lease, and then claimed as any other', async () => {
      await ahead(async () => {
        for (const id of ['claimed', 'scheduled'])
          await tasks.schedule(id, now(), { $set: { owner: 'ada' } });
        await tasks.claim((await tasks.find('claimed'))!);
      });
      warnings.splice(0);
      assert.deepEqual(await due(), []);
      await pass(LEASE_MS - 5000);
      assert.deepEqual(await due(), []);
      await pass(5000);
      assert.deepEqual((await due()).sort(), ['claimed', 'scheduled']);
      assert.equal(warnings.filter((line) => /too far in the future/.test(line)).length, 2);
      await pass(5000);
      const found = await tasks.due(10);
      const [first] = await Promise.all(found.map((one) => tasks.claim(one)));
      assert.equal(await tasks.finish(first!), true);
      assert.deepEqual(await due(), []);
    });

    it('is not due while its holder is alive', async () => {
      const held = await ahead(async () => {
        await tasks.schedule('t', now(), { $set: { owner: 'ada' } });
        return (await tasks.claim((await tasks.find('t'))!))!;
      });
      for (let renewals = 0; renewals < 20; renewals += 1) {
        assert.deepEqual(await due(), []);
        assert.ok(await ahead(() => tasks.renew(held)));
        await pass(LEASE_MS / 3);
      }
    });

    it('does not make due what is later within the bound, or in a queue without one', async () => {
      const unbounded = new DueQueue(new Collection<Task>(connection, TASKS), clock, {
        leaseMs: LEASE_MS,
        timers,
      });
      await tasks.schedule('later', new Date(now().getTime() + HOUR_MS), { $set: { owner: 'ada' } });
      for (let checks = 0; checks < 20; checks += 1) {
        assert.deepEqual(await due(), []);
        await pass(LEASE_MS / 3);
      }
      await unbounded.schedule('later', new Date(now().getTime() + 30 * DAY_MS));
      for (let checks = 0; checks < 20; checks += 1) {
        assert.deepEqual(await unbounded.due(10), []);
        await pass(LEASE_MS / 3);
      }
    });
  });

  it('is the first attempt of a mail and of a callback soon, and the next one at its time', async () => {
    const outbox = new MailOutbox(connection, clock, timers);
    const deliveries = new DeliveryStore(connection, clock, timers);
    await ensureIndexes(connection);
    const values = { units: 1000, amountCents: 900 };
    const mail = { accountId: 'a', to: 'a@example.com', kind: 'overage-bought', values } as const;
    await ahead(() => outbox.enqueue({ id: 'first', ...mail }));
    await outbox.enqueue({ id: 'later', ...mail });
    const claimed = (await outbox.claim((await outbox.find('later'))!))!;
    await outbox.finishAttempt(claimed, {
      state: 'waiting',
      dueAt: new Date(clock.now().getTime() + DAY_MS),
    });
    for (let checks = 0; checks < 3; checks += 1) {
      assert.deepEqual(await outbox.due(10), []);
      assert.deepEqual(await deliveries.due(10), []);
      await pass(45_000);
    }
    assert.deepEqual(
      (await outbox.due(10)).map(({ _id }) => _id),
      ['first'],
    );
  });

  it('is a batch that another process takes over', async () => {
    const batches = new BatchStore(connection, clock, timers);
    await ensureIndexes(connection);
    await ahead(async () => {
      const now = clock.now();
      const batch = {
        ...{
          _id: 'b',
          accountId: 'a',
          phase: 'expanding',
          busy: true,
          busyUntil: new Date(now.getTime() + 15_000),
        },
        ...{ cancelledAt: null, createdAt: now, updatedAt: now },
      };
      await connection.collection<{ _id: string }>('batches').insertOne(batch);
      await connection
        .collection<{ _id: string; dueAt: Date }>('batch_reconciliations')
        .insertOne({ _id: 'b', dueAt: batch.busyUntil });
    });
    let found: string[] = [];
    let passedMs = 0;
    for (; found.length === 0 && passedMs < 10 * 60_000; passedMs += 5000) {
      found = (await batches.neglected()).map(({ _id }) => _id);
      await pass(5000);
    }
    assert.deepEqual(found, ['b']);
    assert.ok(passedMs > 30_000, 'a process that is alive would have renewed its lease');
  });

  it('is the lock of an idempotency key, which the next request takes over', async () => {
    const keys = new IdempotencyStore(connection, clock, timers);
    await ensureIndexes(connection);
    const begin = () => keys.begin('a', 'POST /v1/pdf', 'once', 'hash');
    const begun = await ahead(begin);
    assert.equal(begun.kind, 'run');
    await assert.rejects(begin, { code: 'IDEMPOTENCY_IN_PROGRESS' });
    await pass(5000);
    await assert.rejects(begin, { code: 'IDEMPOTENCY_IN_PROGRESS' });
    await pass(1000);
    const next = await begin();
    assert.ok(next.kind === 'run' && begun.kind === 'run');
    assert.deepEqual([next.lock.resumed, next.lock.workId], [true, begun.lock.workId]);
    for (const { lock } of [begun, next]) await lock.release();
  });
});
