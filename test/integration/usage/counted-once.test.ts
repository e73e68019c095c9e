import assert from 'node:assert/strict';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import type { LedgerRecord } from '../../../src/work/jobs/ledger/ledger-record.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const PLAN = { concurrentRenders: 1000 };
const KEYS = ['a', 'b', 'c'];
const WRITES = ['findOneAndUpdate', 'updateOne', 'updateMany', 'insertOne', 'bulkWrite'];

describe('The outcomes of jobs', () => {
  let domain: Domain;
  before(async () => {
    domain = await openDomain({ uri: (await startMongo()).uri, plan: PLAN });
  });
  after(() => domain.close());

  /** Jobs that end now, one for each key. */
  const end = async (accountId: string, apiKeyIds: readonly string[] = KEYS) => {
    for (const apiKeyId of apiKeyIds) {
      const ordered = newJob(accountId, { apiKeyId });
      await domain.admit(ordered);
      const job = (await domain.store.live.find(ordered.job._id))!;
      const { job: claimed } = (await domain.store.transitions.claim(job, 'w', 15_000))!;
      const output = { key: outputKey(job._id, claimed.version, new Date()), size: 10, pages: 2, sha256: '' };
      const ended = (await domain.store.transitions.complete(claimed, output, domain.clock.now()))!;
      await domain.followUp.followWhole([ended]);
    }
  };
  const ledgerOf = (accountId: string) =>
    domain.connection.collection<LedgerRecord>('ledgers').findOne({ _id: accountId });
  const summary = async (accountId: string, of = domain) => {
    const since = new Date(domain.clock.now().getTime() - 7 * DAY_MS);
    const { totalRequests, keyBreakdown } = await of.counters.usage(
      accountId,
      new Date(since.getTime() - (since.getTime() % HOUR_MS)),
    );
    return { totalRequests, keys: keyBreakdown.length };
  };
  const inHistory = (accountId: string) =>
    domain.connection.collection('job_history').countDocuments({ accountId });

  it('are counted once, although several processes follow them up', async () => {
    const ordered = newJob('twice');
    await domain.admit(ordered);
    const job = (await domain.store.live.find(ordered.job._id))!;
    const [cancelled] = await domain.store.transitions.cancel([job]);
    await Promise.all([1, 2, 3].map(() => domain.followUp.followWhole([cancelled!])));
    await domain.followUp.finish([cancelled!]);
    assert.deepEqual(await summary('twice'), { totalRequests: 1, keys: 1 });
  });

  it('are counted at once, and the same when they have been moved to the buckets', async () => {
    const reader = { accountId: 'moved' };
    const series = async () => {
      const points = await domain.usage.reports.series(reader, { period: '7d', interval: 'hour' });
      return points.filter(({ total }) => total > 0);
    };
    await end('moved');
    domain.clock.pass(HOUR_MS);
    await end('moved', ['a', 'a']);
    const [before, counted] = [await series(), await summary('moved')];
    assert.deepEqual(
      before.map(({ total, pages, bytes }) => [total, pages, bytes]),
      [
        [3, 6, 30],
        [2, 4, 20],
      ],
    );
    assert.deepEqual(counted, { totalRequests: 5, keys: 3 });
    assert.equal(await domain.ledgerUsage.move(domain.counters), 0, 'only what has gathered for a while');
    domain.clock.pass(2 * HOUR_MS);
    assert.ok((await domain.ledgerUsage.move(domain.counters)) >= 1);
    assert.equal((await ledgerOf('moved'))?.usage, undefined);
    assert.equal(
      await domain.connection.collection('usage_buckets').countDocuments({ accountId: 'moved' }),
      3,
    );
    assert.deepEqual([await series(), await summary('moved')], [before, counted]);
    const since = new Date(domain.clock.now().getTime() - DAY_MS);
    since.setUTCMinutes(0, 0, 0);
    const requests = await domain.counters.requestsOf(['moved', 'nobody'], since);
    assert.deepEqual([requests.get('moved')?.requests, requests.get('nobody')?.requests], [5, 0]);
    // An account without further jobs is not looked at again.
    assert.equal((await ledgerOf('moved'))?.usageDueAt, undefined);
    assert.deepEqual(await summary('moved'), counted);
  });

  it('stay few in a ledger of many keys and hours', async () => {
    const keys = Array.from({ length: 10 }, (_, i) => `key-${i}`);
    await end('many', keys);
    domain.clock.pass(2 * HOUR_MS);
    await domain.ledgerUsage.move({
      async add(accountId, ...of) {
        if (accountId === 'many') await end('many', keys);
        await domain.counters.add(accountId, ...of);
      },
    });
    assert.deepEqual(await summary('many'), { totalRequests: 20, keys: 10 });
    assert.equal(Object.keys((await ledgerOf('many'))?.usage ?? {}).length, 10);
    domain.clock.pass(2 * 60_000);
    await domain.ledgerUsage.move(domain.counters);
    assert.equal((await ledgerOf('many'))?.usage, undefined);
    assert.deepEqual(await summary('many'), { totalRequests: 20, keys: 10 });
  });

  it('are moved once, whichever write of a process that moves them was its last, and others go on meanwhile', async () => {
    const { connection } = await openDomain({ uri: domain.uri, plan: PLAN });
    const life = { writes: 0, last: 0, isOver: false };
    for (const records of Object.values(connection.collections) as unknown as Record<string, unknown>[]) {
      for (const name of WRITES) {
        const original = (records[name] as (...args: unknown[]) => Promise<unknown>).bind(records);
        records[name] = async (...args: unknown[]) => {
          if (life.writes++ >= life.last) life.isOver = true;
          if (life.isOver && life.writes > life.last + 1) throw new Error('The process is dead.');
          const result = await original(...args);
          // It dies before the write, or before it has its response.
          if (life.isOver) throw new Error('The process is dead.');
          return result;
        };
      }
    }
    for (let last = 0; last < 8; last += 1) {
      const accountId = `dying-${last}`;
      await end(accountId);
      domain.clock.pass(3 * HOUR_MS);
      Object.assign(life, { writes: 0, last, isOver: false });
      const dying = await openDomain({ uri: domain.uri, connection, plan: PLAN });
      dying.clock.pass(domain.clock.offset);
      await dying.ledgerUsage.move(dying.counters).catch((error) => {
        if (!life.isOver) throw error;
      });
      assert.equal((await summary(accountId)).totalRequests, 3, `after ${last} writes`);
      await end(accountId, ['a']);
      await Promise.all([1, 2, 3].map(() => domain.ledgerUsage.move(domain.counters)));
      assert.equal((await summary(accountId)).totalRequests, 4, `after ${last} writes`);
      domain.clock.pass(5 * HOUR_MS);
      await domain.ledgerUsage.move(domain.counters);
      assert.equal(
        (await summary(accountId)).totalRequests,
        await inHistory(accountId),
        `after ${last} writes`,
      );
      const ledger = await ledgerOf(accountId);
      assert.deepEqual([ledger?.usage, ledger?.usageBatch], [undefined, undefined]);
    }
    await connection.close();
  });

  it('are in every report exactly once while they are moved', async () => {
    await end('read');
    for (let round = 1; round <= 10; round += 1) {
      domain.clock.pass(5 * HOUR_MS);
      const moving = domain.ledgerUsage.move(domain.counters);
      const reports = await Promise.all([1, 2, 3, 4].map(() => summary('read')));
      await moving;
      for (const { totalRequests } of reports) assert.equal(totalRequests, 2 + round);
      await end('read', ['a']);
    }
  });
});
