import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import { hasEnded, type Job } from '../../../src/work/jobs/job.ts';
import { CHECK_AFTER_MS } from '../../../src/work/jobs/ledger/ledger-due.ts';
import { isAtRest, type LedgerRecord } from '../../../src/work/jobs/ledger/ledger-record.ts';
import { DueLedgersSweep } from '../../../src/work/jobs/sweeps/due-ledgers.ts';
import { WaitingJobs } from '../../../src/work/jobs/sweeps/waiting-jobs.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';

const LEASE_MS = 15_000;
const PLAN = { concurrentRenders: 1, maxWaitingJobs: 1000 };
const WRITES = [
  ...['findOneAndUpdate', 'updateOne', 'updateMany', 'insertOne'],
  ...['insertMany', 'bulkWrite', 'deleteOne', 'deleteMany'],
];
const READS = ['findOne', 'find', 'aggregate'];

function sweepOf(domain: Domain): DueLedgersSweep {
  return new DueLedgersSweep({
    ...domain,
    due: domain.dueLedgers,
    waitingJobs: new WaitingJobs(domain),
    redeliveryMs: 5000,
    retryBaseMs: 1000,
    random: () => 1,
    onRetried: () => {},
  });
}

/** Counts the commands to the ledgers, and what they have returned. */
function countLedgerReads(domain: Domain) {
  const seen = { finds: 0, others: 0, records: 0 };
  const client = domain.connection.getClient();
  client.on('commandStarted', ({ commandName, command }) => {
    if (command[commandName] !== 'ledgers') return;
    if (commandName === 'find') seen.finds += 1;
    else seen.others += 1;
  });
  client.on('commandSucceeded', ({ reply }) => {
    const { ns, firstBatch } = (reply as { cursor?: { ns: string; firstBatch: unknown[] } }).cursor ?? {};
    if (ns?.endsWith('.ledgers')) seen.records += firstBatch?.length ?? 0;
  });
  return seen;
}

async function claim(domain: Domain, id: string): Promise<Job> {
  const job = (await domain.store.live.find(id))!;
  return (await domain.store.transitions.claim(job, 'w', LEASE_MS))!.job;
}

async function complete(domain: Domain, job: Job): Promise<Job> {
  const output = { key: outputKey(job._id, job.version, new Date()), size: 1, pages: 1, sha256: '' };
  return (await domain.store.transitions.complete(job, output, domain.clock.now()))!;
}

async function submit(domain: Domain, accountId: string): Promise<string> {
  const job = newJob(accountId);
  await domain.admit(job);
  return job.job._id;
}

describe('The sweep of due ledgers', () => {
  let domain: Domain;
  let sweep: DueLedgersSweep;
  before(async () => {
    const { uri } = await startMongo();
    domain = await openDomain({
      uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`,
      plan: PLAN,
    });
    sweep = sweepOf(domain);
  });
  after(() => domain.close());

  it('reads no ledger while jobs go on as they should', async () => {
    const accounts = Array.from({ length: 20 }, (_, i) => `healthy-${i}`);
    for (const account of accounts) {
      const id = await submit(domain, account);
      await domain.followUp.follow([await complete(domain, await claim(domain, id))]);
    }
    await domain.flush();
    const running = await claim(domain, await submit(domain, 'running'));
    const waiting = await submit(domain, 'running');
    const reads = countLedgerReads(domain);
    for (let seconds = 0; seconds < 4; seconds += 1) {
      assert.equal(await sweep.run(), 0);
      domain.clock.pass(1000);
    }
    assert.deepEqual([reads.others, reads.records], [0, 0]);
    // One each, and now and then one for times that lie too far ahead.
    assert.ok(reads.finds >= 4 && reads.finds <= 6, `${reads.finds} queries`);
    domain.clock.pass(1500);
    await sweep.run();
    // That with a job which has run for longer than a pointer may wait; and once more for the job that waits.
    assert.equal(reads.records, 2);
    const others = reads.others;
    domain.clock.pass(8000);
    await sweep.run();
    assert.deepEqual([reads.records, reads.others], [2, others], 'it is due when the lease ends');
    await domain.followUp.follow([await complete(domain, running)]);
    assert.equal((await domain.store.live.find(waiting))?.state, 'dispatched');
    await domain.followUp.follow([await complete(domain, await claim(domain, waiting))]);
    await domain.flush();
    const ledger = await domain.ledger.find('running');
    assert.deepEqual([ledger?.dueAt, ledger?.active], [undefined, undefined]);
  });

  it('is shared by the dispatchers: each overdue ledger is checked by one', async () => {
    const accounts = Array.from({ length: 60 }, (_, i) => `overdue-${i}`);
    for (const account of accounts) await domain.ledger.takeSlot(account, `${account}-job`, 1, undefined);
    domain.clock.pass(10_001);
    const other = await openDomain({ uri: domain.uri, plan: PLAN });
    other.clock.pass(domain.clock.offset);
    const repaired = await Promise.all([sweep.run(), sweepOf(other).run()]);
    await other.close();
    assert.equal(repaired[0]! + repaired[1]!, accounts.length);
    assert.ok(Math.min(...repaired) > accounts.length / 5, `${repaired}`);
    domain.clock.pass(2000);
    assert.equal(await sweep.run(), 0);
    for (const account of accounts) assert.equal((await domain.ledger.find(account))?.dueAt, undefined);
  });

  it('finds the ledgers of an older version, which have no time', async () => {
    const ledgers = domain.connection.collection<LedgerRecord>('ledgers');
    const id = await submit(domain, 'older');
    await ledgers.updateOne({ _id: 'older' }, { $unset: { dueAt: '', changedAt: '' } });
    domain.clock.pass(20_000);
    assert.equal(await sweep.run(), 0);
    assert.equal(await domain.dueLedgers.dateUndated(), 1);
    assert.equal(await domain.dueLedgers.dateUndated(), 0);
    assert.equal(await sweep.run(), 1, 'its pointer is published again');
    await endEarly(domain, [(await domain.store.live.find(id))!]);
  });
});

describe('A process that dies', () => {
  let survivor: { readonly domain: Domain; readonly sweep: DueLedgersSweep };
  /** The connection of the processes that die, and how far the present one has come. */
  let connection: Domain['connection'];
  const life = { writes: 0, last: 0, isOver: false };
  before(async () => {
    const domain = await openDomain({ plan: PLAN });
    survivor = { domain, sweep: sweepOf(domain) };
    ({ connection } = await openDomain({ uri: domain.uri, plan: PLAN }));
    for (const records of Object.values(connection.collections) as unknown as Record<string, unknown>[]) {
      for (const name of [...WRITES, ...READS]) {
        const original = (records[name] as (...args: unknown[]) => unknown).bind(records);
        records[name] = (...args: unknown[]) => {
          if (WRITES.includes(name) && life.writes++ >= life.last) life.isOver = true;
          if (life.isOver) throw new Error('The process is dead.');
          return original(...args);
        };
      }
    }
  });
  after(async () => {
    await connection.close();
    await survivor.domain.close();
  });

  /** A process on the same database that dies before its write number `last`, counted from 0. */
  const openDying = async (last: number) => {
    const { uri, clock } = survivor.domain;
    Object.assign(life, { writes: 0, last, isOver: false });
    const domain = await openDomain({ uri, connection, plan: PLAN });
    domain.clock.pass(clock.offset);
    return domain;
  };

  interface Life {
    readonly domain: Domain;
    /** @returns the id of a job that has been accepted. */
    admitted(): Promise<string>;
  }
  /** What becomes of jobs of one account with one slot, one thing after another. */
  const lives: Readonly<Record<string, (life: Life) => Promise<void>>> = {
    async 'one waits for the slot of the other'({ domain, admitted }) {
      const first = await admitted();
      const second = await admitted();
      await domain.followUp.followWhole([await complete(domain, await claim(domain, first))]);
      await domain.followUp.followWhole([await complete(domain, await claim(domain, second))]);
    },
    async 'one waits, and is cancelled'({ domain, admitted }) {
      const first = await admitted();
      const second = await admitted();
      await admitted();
      await endEarly(domain, [(await domain.store.live.find(second))!], { whole: true });
      await endEarly(domain, [(await domain.store.live.find(first))!], { whole: true });
    },
    async 'one returns from its worker, twice'({ domain, admitted }) {
      const { retries } = domain;
      const id = await admitted();
      await retries.retryLater(await claim(domain, id), new PlatenError('RENDER_FAILED'), 0);
      await retries.returnDue();
      await retries.giveBack(await claim(domain, id));
      await domain.followUp.followWhole([await complete(domain, await claim(domain, id))]);
    },
  };

  /** The dispatchers and workers that are left. */
  const recover = async (accountId: string): Promise<number> => {
    const { domain, sweep } = survivor;
    for (let rounds = 1; rounds <= 30; rounds += 1) {
      await sweep.run();
      await domain.retries.returnDue();
      const jobs = await domain.store.live.ofAccount(accountId, { skip: 0, limit: 100 });
      for (const { _id, state } of jobs) {
        if (state !== 'dispatched') continue;
        await domain.followUp.followWhole([await complete(domain, await claim(domain, _id))]);
      }
      const ledger = await domain.ledger.find(accountId);
      if (ledger === undefined || (isAtRest(ledger) && ledger.dueAt === undefined)) return rounds;
      domain.clock.pass(5000);
    }
    throw new Error(
      `${accountId} has not come to rest: ${JSON.stringify(await domain.ledger.find(accountId))}`,
    );
  };

  for (const [what, live] of Object.entries(lives)) {
    it(`leaves a ledger that is due in time, whichever write was its last: ${what}`, async () => {
      const { domain } = survivor;
      let last = 0;
      do {
        const accountId = `${what} ${last}`.replaceAll(/[ ,]+/g, '-');
        const accepted = new Set<string>();
        const dying = await openDying(last);
        const admitted = async () => {
          const id = await submit(dying, accountId);
          accepted.add(id);
          return id;
        };
        await live({ domain: dying, admitted }).catch((error) => {
          if (!life.isOver) throw error;
        });
        const left = await domain.ledger.find(accountId);
        if (left !== undefined && !isAtRest(left)) {
          const inMs = (left.dueAt?.getTime() ?? Number.POSITIVE_INFINITY) - domain.clock.now().getTime();
          assert.ok(inMs <= CHECK_AFTER_MS, `after ${last} writes: ${JSON.stringify(left)}`);
        }
        await recover(accountId);
        const ledger = await domain.ledger.find(accountId);
        assert.ok([0, undefined].includes(ledger?.inFlight), `after ${last} writes`);
        assert.ok(
          [0, undefined].includes(ledger?.waiting),
          `after ${last} writes: ${JSON.stringify(ledger)}`,
        );
        assert.deepEqual(await domain.store.live.anyOf(accountId, 10), [], `after ${last} writes`);
        for (const id of accepted) {
          const ended = await domain.store.history.find(id);
          assert.ok(ended !== undefined && hasEnded(ended.state), `after ${last} writes: ${id}`);
        }
        const { totalRequests } = await domain.counters.usage(accountId, new Date(0));
        const ended = await domain.connection.collection('job_history').countDocuments({ accountId });
        assert.equal(totalRequests, ended, `after ${last} writes: each outcome counts once`);
        last += 1;
      } while (life.isOver);
      assert.ok(last > 15, `${last} writes`);
    });
  }
});
