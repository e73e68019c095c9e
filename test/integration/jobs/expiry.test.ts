import assert from 'node:assert/strict';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import { newJobId } from '../../../src/work/jobs/new-job.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { WaitingJobs } from '../../../src/work/jobs/sweeps/waiting-jobs.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';
import { dieAt, Killed } from '../batches/support.ts';

const HOUR_MS = 3_600_000;
/** Longer than a process between two steps takes, and than a name is kept of a job that has not ended after all. */
const LONG_MS = 61_000;
/** Jobs that wait when the process that ends them dies. */
const ENDED = 20;

describe('waiting jobs whose time is over', () => {
  let domain: Domain;
  /** Commands that were sent to the database. */
  let commands = 0;
  let accounts = 0;
  let accountId: string;
  const quota = quotaPeriod(new Date());

  before(async () => {
    const { uri } = await startMongo();
    domain = await openDomain({
      uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`,
      plan: { concurrentRenders: 1, monthlyRenders: 100_000, maxWaitingJobs: 100_000 },
    });
    domain.connection.getClient().on('commandStarted', () => {
      commands += 1;
    });
  });
  after(() => domain.close());
  beforeEach(() => {
    accounts += 1;
    accountId = `account-${accounts}`;
  });

  /** One job of the account runs, and so many wait behind it for up to two hours, or as said. */
  async function waiting(
    count: number,
    retentionHours: (index: number) => number = () => 2,
  ): Promise<string[]> {
    const running = newJob(accountId, { _id: newJobId(), retentionHours: 10_000, quotaPeriod: quota });
    await domain.admit(running);
    await domain.store.transitions.claim((await domain.store.live.find(running.job._id))!, 'w', 1e12);
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const own = { _id: newJobId(), retentionHours: retentionHours(i), quotaPeriod: quota };
      const job = newJob(accountId, own);
      await domain.admit(job);
      ids.push(job.job._id);
    }
    return ids;
  }

  const ledger = async () => (await domain.ledger.find(accountId))!;
  const own = async () => (await domain.ledger.active()).filter(({ _id }) => _id === accountId);
  const expire = async () => new WaitingJobs(domain).expire(await own());

  /** Each has failed once and has given back what it held, and no position is left before the next one. */
  async function assertOver(ids: readonly string[]): Promise<void> {
    await domain.flush();
    const jobs = await domain.store.history.some(ids);
    assert.equal(jobs.length, ids.length);
    for (const { state, error } of jobs) assert.deepEqual([state, error?.code], ['failed', 'EXPIRED']);
    const { waiting, inFlight, finalising = {}, ending = {}, quota: used, queues } = await ledger();
    assert.deepEqual([waiting, inFlight, finalising, ending], [0, 1, {}, {}]);
    assert.equal(Object.values(used ?? {})[0], 1, 'that of the one that runs');
    for (const { head, tail } of Object.values(queues ?? {})) assert.equal(head, tail);
    const since = new Date(Math.floor((domain.clock.now().getTime() - 86_400_000) / HOUR_MS) * HOUR_MS);
    assert.equal((await domain.counters.usage(accountId, since)).totalRequests, ids.length);
  }

  it('are ended together: what that takes grows by the hundred, not by the job', async () => {
    const ids = await waiting(350);
    domain.clock.pass(2 * HOUR_MS);
    const before = commands;
    assert.equal(await expire(), ids.length);
    await domain.flush();
    const used = commands - before;
    console.log(`      ${used} commands for ${ids.length} jobs`);
    assert.ok(used < 100, `${used} commands`);
    await assertOver(ids);
  });

  it('are ended up to the first whose time is not over, whatever the retention of each', async () => {
    const ids = await waiting(9, (i) => [1, 1, 2, 1, 50, 1, 1, 1, 1][i]!);
    domain.clock.pass(3 * HOUR_MS);
    assert.equal(await expire(), 4);
    await domain.flush();
    assert.equal((await ledger()).waiting, 5);
    const fifth = (await domain.store.live.find(ids[4]!))!;
    assert.equal(fifth.state, 'queued');
    await endEarly(domain, [fifth]);
    assert.equal(await expire(), 4);
    await domain.flush();
    assert.equal((await ledger()).waiting, 0);
  });

  it('are left alone when they have moved on meanwhile', async () => {
    const ids = await waiting(5);
    domain.clock.pass(2 * HOUR_MS);
    const { transitions } = domain.store;
    const fail = transitions.fail.bind(transitions);
    transitions.fail = async (seen, ...rest) => {
      // Its owner has ended it between the read and the update.
      Reflect.deleteProperty(transitions, 'fail');
      await endEarly(domain, [seen[2]!]);
      return fail(seen, ...rest);
    };
    assert.equal(await expire(), 4);
    await domain.flush();
    const jobs = await domain.store.history.some(ids);
    const codes = new Map(jobs.map(({ _id, error }) => [_id, error?.code]));
    assert.deepEqual(
      ids.map((id) => codes.get(id)),
      ['EXPIRED', 'EXPIRED', 'CANCELLED', 'EXPIRED', 'EXPIRED'],
    );
    assert.deepEqual([(await ledger()).waiting, (await ledger()).finalising ?? {}], [0, {}]);
  });

  describe('are ended by a sweep when the process that ends them dies', () => {
    const steps = {
      'naming them': () => dieAt(domain.ledger, 'announceEnds'),
      'ending them': () => dieAt(domain.store.transitions, 'fail'),
      'giving back what they held': () => dieAt(domain.ledger, 'leave'),
      'forgetting them': () => dieAt(domain.ledger, 'forgetEnded'),
      'passing over their positions': () => dieAt(domain.ledger, 'passOver'),
    };
    for (const when of ['before', 'after'] as const) {
      for (const [name, dying] of Object.entries(steps)) {
        it(`${when} ${name}`, async () => {
          const ids = await waiting(ENDED);
          domain.clock.pass(2 * HOUR_MS);
          const restore = dying()(1, when);
          await assert.rejects(expire(), Killed);
          restore();
          for (let i = 0; i < 2; i += 1) {
            domain.clock.pass(LONG_MS);
            const repairs = { ...domain, redeliveryMs: 1e12, retryBaseMs: 1000, random: Math.random };
            await repairInterruptedJobs({ ...repairs, onRetried: () => {} }, await own());
            await expire();
            await domain.flush();
          }
          // Positions whose jobs are gone already are passed over.
          await new WaitingJobs(domain).serve(await own());
          await assertOver(ids);
        });
      }
    }
  });
});
