import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { checkLayout, LAYOUT } from '../../../src/roles/data-layout/data-layout.ts';
import { renameDue } from '../../../src/roles/data-layout/migrate-to-3.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { BatchStore } from '../../../src/work/batches/batch-store.ts';
import { deliveryIdOf, newDelivery } from '../../../src/work/callbacks/delivery.ts';
import { DeliveryStore } from '../../../src/work/callbacks/delivery-store.ts';
import { startMongo } from '../../support/mongo.ts';
import { StillClock } from '../../support/still-clock.ts';
import { purchased } from '../mail/support.ts';

const LEASE_MS = 120_000;

const payload = (jobId: string) =>
  ({ event: 'render.failed', jobId, status: 'failed', statusUrl: '/x', completedAt: 'now' }) as const;

interface BatchOfLayout2 {
  readonly _id: string;
  readonly busy?: true;
  readonly busyUntil: Date;
  readonly purgeAt?: Date;
  readonly forgetAt?: Date;
}

interface Older {
  readonly _id: string;
  readonly due?: Date;
  readonly version?: number;
  readonly state?: string;
}

/** Records as the version before wrote them: `due`, and `version` for a fence. */
describe('Data of layout 2', () => {
  const logger = pino({ level: 'silent' });
  let connection: Connection;
  let clock: StillClock;

  beforeEach(async () => {
    connection = await connectDatabase((await startMongo()).uri, logger);
    clock = new StillClock(Date.now());
  });
  afterEach(() => connection.close());

  const inMs = (ms: number) => new Date(clock.now().getTime() + ms);
  const older = (name: string) => connection.collection<Older>(name);
  const asLayout2 = () =>
    connection
      .collection<{ _id: string; version: number }>('layout')
      .insertOne({ _id: 'layout', version: 2 });
  const ids = (some: readonly { readonly _id: string }[]) => some.map(({ _id }) => _id);

  async function openMails(): Promise<MailOutbox> {
    const outbox = new MailOutbox(connection, clock);
    await ensureIndexes(connection);
    return outbox;
  }

  function mail(id: string, due: Date | undefined, version: number) {
    const { accountId, to, kind, values } = purchased(id);
    const common = { _id: id, accountId, to, content: { kind, values }, attempts: 0, createdAt: inMs(0) };
    return due === undefined
      ? { ...common, version, state: 'sent', endedAt: inMs(0) }
      : { ...common, version, state: 'waiting', due };
  }

  it('has its mails sent when they were due, those under way when their lease ends, and none that was sent', async () => {
    await asLayout2();
    await older('mails').insertMany([
      mail('sent', undefined, 3),
      mail('due', inMs(-1), 1),
      mail('under-way', inMs(LEASE_MS), 2),
      mail('later', inMs(10 * LEASE_MS), 5),
    ]);
    await checkLayout(connection, logger);
    const outbox = await openMails();
    assert.deepEqual(ids(await outbox.due(10)), ['due']);
    const claimed = (await outbox.claim((await outbox.due(1))[0]!))!;
    assert.equal(await outbox.finishAttempt(claimed, { state: 'sent' }), true);
    clock.pass(LEASE_MS);
    assert.equal(await renameDue(connection, clock.now()), 1);
    assert.deepEqual(ids(await outbox.due(10)), ['under-way']);
    clock.pass(9 * LEASE_MS);
    assert.deepEqual(ids(await outbox.due(10)), ['under-way', 'later']);
    assert.equal((await connection.collection<Older>('layout').findOne())?.version, LAYOUT);
    assert.equal(await renameDue(connection, clock.now()), 0, 'nothing is left of the older fields');
  });

  it('has its callbacks sent when they were due, also those that were no more listed, and none that was over', async () => {
    await asLayout2();
    const callback = (jobId: string, due: Date | undefined, state = 'pending') => {
      const { fence, dueAt, ...kept } = newDelivery(
        { accountId: 'account' },
        'https://example.com/hook',
        payload(jobId),
        inMs(0),
      );
      return { ...kept, state, version: fence! + 1, ...(due && { due }) };
    };
    await older('callback_deliveries').insertMany([
      callback('due', inMs(-2)),
      callback('unlisted', inMs(-1)),
      callback('later', inMs(60_000)),
      callback('over', undefined, 'delivered'),
    ]);
    for (const jobId of ['due', 'over'])
      await older('callback_outbox').insertOne({ _id: deliveryIdOf(jobId), due: inMs(-2) });
    await checkLayout(connection, logger);
    const deliveries = new DeliveryStore(connection, clock);
    await ensureIndexes(connection);
    assert.deepEqual(ids(await deliveries.due(10)), ['due', 'unlisted'].map(deliveryIdOf));
    clock.pass(60_000);
    assert.equal(await renameDue(connection, clock.now()), 1);
    assert.deepEqual(ids(await deliveries.due(10)), ['due', 'unlisted', 'later'].map(deliveryIdOf));
    const sentBefore = (await deliveries.redeliver('account', deliveryIdOf('over')))!;
    assert.deepEqual([sentBefore.state, sentBefore.fence], ['pending', 1]);
    const claimed = (await deliveries.claim(sentBefore))!;
    const noted = { lastAttemptAt: inMs(0), responseStatus: 204, error: null };
    assert.equal(await deliveries.finishAttempt(claimed, { ...noted, state: 'delivered' }), true);
  });

  it('has its batches reconciled and deleted when it was time, also those that were on no list', async () => {
    await asLayout2();
    const running = { busy: true, busyUntil: inMs(1000) } as const;
    const ended = { busyUntil: inMs(-60_000), purgeAt: inMs(2000), forgetAt: inMs(9000) };
    await connection.collection<BatchOfLayout2>('batches').insertMany([
      { _id: 'running', ...running },
      { _id: 'unlisted', ...running },
      { _id: 'ended', ...ended },
      { _id: 'ended-unlisted', ...ended },
      { _id: 'purged-unlisted', busyUntil: inMs(-60_000), forgetAt: inMs(2000) },
    ]);
    await older('batch_care').insertOne({ _id: 'running', due: inMs(1000) });
    await older('batch_endings').insertMany([
      { _id: 'ended', due: inMs(2000) },
      { _id: 'deleted', due: inMs(-1) },
    ]);
    await checkLayout(connection, logger);
    const batches = new BatchStore(connection, clock);
    await ensureIndexes(connection);
    assert.deepEqual(await batches.neglected(), []);
    assert.deepEqual(await batches.due(clock.now()), { toPurge: [], toForget: [] });
    assert.equal(await batches.due(clock.now()), undefined, 'what is gone is on no list any more');
    clock.pass(2000);
    assert.equal(await renameDue(connection, clock.now()), 2);
    assert.deepEqual(ids(await batches.neglected()), ['running', 'unlisted']);
    const due = (await batches.due(clock.now()))!;
    assert.deepEqual(ids(due.toPurge), ['ended', 'ended-unlisted']);
    assert.deepEqual(ids(due.toForget), ['purged-unlisted']);
    for (const batch of due.toPurge) await batches.purged(batch);
    assert.ok(await batches.forget(due.toForget[0]!));
    await batches.due(clock.now());
    clock.pass(7000);
    assert.deepEqual(ids((await batches.due(clock.now()))!.toForget), ['ended', 'ended-unlisted']);
    // An older process has one looked at later.
    await older('batch_care').updateOne({ _id: 'running' }, { $set: { due: inMs(5000) } });
    assert.equal(await renameDue(connection, clock.now()), 0);
    clock.pass(5000);
    assert.equal(await renameDue(connection, clock.now()), 1);
    assert.deepEqual(ids(await batches.neglected()), ['unlisted', 'running']);
  });

  it('leaves what a process of the version before has under way to that, and takes the rest along', async () => {
    await asLayout2();
    const claim = (id: string, version: number) =>
      older('mails').updateOne({ _id: id, version }, { $set: { due: inMs(LEASE_MS) }, $inc: { version: 1 } });
    const end = (id: string, version: number) =>
      older('mails').updateOne({ _id: id, version }, { $set: { state: 'sent' }, $unset: { due: '' } });
    await older('mails').insertMany([mail('slow', inMs(-1), 1), mail('dead', inMs(-1), 1)]);
    for (const id of ['slow', 'dead']) await claim(id, 1);
    await checkLayout(connection, logger);
    const outbox = await openMails();
    await older('mails').insertMany([mail('late', inMs(-1), 1), mail('taken', inMs(-1), 1)]);
    assert.equal((await claim('taken', 1)).matchedCount, 1);
    assert.equal(await renameDue(connection, clock.now()), 1);
    assert.deepEqual(ids(await outbox.due(10)), ['late']);
    assert.equal((await claim('late', 1)).matchedCount, 0, 'the version before has it no more');
    for (const id of ['slow', 'taken']) assert.equal((await end(id, 2)).matchedCount, 1, id);
    clock.pass(LEASE_MS);
    assert.equal(await renameDue(connection, clock.now()), 1);
    assert.deepEqual(ids(await outbox.due(10)), ['late', 'dead']);
    // Its holder has stood still: the fence has gone from where it looks for it.
    assert.equal((await end('dead', 2)).matchedCount, 0);
  });

  it('never lowers a fence where an older process has requested a record that was claimed before', async () => {
    await asLayout2();
    await checkLayout(connection, logger);
    const outbox = await openMails();
    await outbox.enqueue(purchased('mail'));
    const first = (await outbox.claim((await outbox.due(1))[0]!))!;
    await older('mails').updateOne({ _id: 'mail' }, { $set: { due: inMs(-1) }, $inc: { version: 1 } });
    assert.equal(await renameDue(connection, clock.now()), 1);
    const next = (await outbox.claim((await outbox.due(1))[0]!))!;
    assert.ok(next.fence! > first.fence!);
    assert.equal(await outbox.finishAttempt(first, { state: 'sent' }), false);
    assert.equal(await outbox.finishAttempt(next, { state: 'sent' }), true);
    const kept = await outbox.find('mail');
    assert.ok(kept !== undefined && !('due' in kept) && !('version' in kept));
  });
});
