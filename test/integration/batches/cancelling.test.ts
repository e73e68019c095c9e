import assert from 'node:assert/strict';
import { pendingAdmission } from '../../../src/infra/overload/pending-admission.ts';
import { type Batch, chunkCount, pendingOf, totalsOf } from '../../../src/work/batches/batch.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import { hasEnded } from '../../../src/work/jobs/job.ts';
import { newJobId } from '../../../src/work/jobs/new-job.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { WaitingJobs } from '../../../src/work/jobs/sweeps/waiting-jobs.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';
import { batchOf, callerWith, dieAt } from './support.ts';

const SLOTS = 3;
const ITEMS = 180;
const CHUNKS = 4;
/** Longer than a process between two steps takes, and than the lease of a batch. */
const LONG_MS = 20_000;
/** Longer than a name is kept of a job that was about to be ended, and has not ended. */
const UNDECIDED_MS = 61_000;

describe('cancelling a batch', () => {
  let domain: Domain;
  /** Commands that were sent to the database. */
  let commands = 0;

  before(async () => {
    const { uri } = await startMongo();
    domain = await openDomain({
      uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`,
      plan: { concurrentRenders: SLOTS, monthlyRenders: 100_000, maxWaitingJobs: 100_000 },
    });
    domain.connection.getClient().on('commandStarted', () => {
      commands += 1;
    });
  });
  after(() => domain.close());

  /** What the dispatcher repeats. */
  async function sweep(): Promise<void> {
    const { ledger, batches } = domain;
    const repairs = { ...domain, redeliveryMs: 1e9, retryBaseMs: 1000, random: Math.random };
    await repairInterruptedJobs({ ...repairs, onRetried: () => {} }, await ledger.active());
    await batches.reconciler.sweep();
    await new WaitingJobs(domain).serve(await ledger.active());
    await domain.flush();
  }

  async function opened(caller: ReturnType<typeof callerWith>, items: number): Promise<Batch> {
    const batch = await domain.batches.service.submit(caller, batchOf(items), pendingAdmission());
    await domain.batches.reconciler.idle();
    return found(batch);
  }

  /** Has a worker begin the jobs that have a slot. */
  async function claimHolders(accountId: string): Promise<void> {
    for (const jobId of await holders(accountId)) {
      const job = await domain.store.live.find(jobId);
      if (job?.state === 'dispatched') await domain.store.transitions.claim(job, 'worker', 1e9);
    }
  }

  const found = async ({ _id }: Batch) => (await domain.batches.store.find(_id))!;

  const holders = async (accountId: string) =>
    Object.keys((await domain.ledger.find(accountId))?.holders ?? {});

  /** Ends the jobs that have a slot, as a worker would that fails them. */
  async function endHolders(accountId: string): Promise<void> {
    for (const jobId of await holders(accountId)) {
      const job = await domain.store.live.find(jobId);
      if (job === undefined || hasEnded(job.state)) continue;
      await endEarly(domain, [job]);
    }
  }

  /** Nothing of the batch is left to do; each of its items has ended, and was counted, once. */
  async function assertOver(seen: Batch): Promise<void> {
    const batch = await found(seen);
    const { accountId, total } = batch;
    assert.equal(batch.phase, 'cancelled');
    const { completed, failed, codes } = totalsOf(batch);
    assert.deepEqual([completed, failed, codes], [0, total, { CANCELLED: total }]);
    const ledger = (await domain.ledger.find(accountId))!;
    assert.deepEqual([ledger.waiting, ledger.inFlight], [0, 0]);
    assert.deepEqual([ledger.finalising ?? {}, ledger.ending ?? {}, ledger.holders ?? {}], [{}, {}, {}]);
    assert.equal(Object.values(ledger.quota ?? {})[0], 0);
    const { head, tail } = ledger.queues!.bulk!;
    assert.equal(head, tail);
    const { connection } = domain;
    assert.equal(await connection.collection('jobs').countDocuments({ accountId }), 0);
    assert.equal(await connection.collection('job_history').countDocuments({ accountId }), total);
    const since = new Date(Math.floor((domain.clock.now().getTime() - 86_400_000) / 3_600_000) * 3_600_000);
    assert.equal((await domain.counters.usage(accountId, since)).totalRequests, total);
  }

  it('takes commands by the chunk, not by the item, gives the quota back and counts at once', async () => {
    const items = 2000;
    const caller = callerWith(domain.plan);
    const batch = await opened(caller, items);
    await claimHolders(caller.accountId);
    const before = commands;
    await domain.batches.service.cancel(caller, batch._id);
    await domain.batches.reconciler.idle();
    const used = commands - before;
    console.log(`      ${used} commands for ${items} items in ${chunkCount(batch)} chunks`);
    assert.ok(used < 20 * chunkCount(batch), `${used} commands`);
    assert.equal(pendingOf(await found(batch)), SLOTS);
    const ledger = await domain.ledger.find(caller.accountId);
    assert.deepEqual([ledger?.waiting, Object.values(ledger?.quota ?? {})[0]], [0, SLOTS]);
    const ended = commands;
    await endHolders(caller.accountId);
    await domain.flush();
    assert.ok(commands - ended < items / 5, `${commands - ended} commands to pass over their positions`);
    await assertOver(batch);
  });

  it('delays no later request of the account', async () => {
    const caller = callerWith(domain.plan);
    const batch = await opened(caller, 2000);
    await claimHolders(caller.accountId);
    await domain.batches.service.cancel(caller, batch._id);
    await domain.batches.reconciler.idle();
    const later = newJob(caller.accountId, { _id: newJobId(), class: 'bulk' });
    await domain.admit(later);
    await endHolders(caller.accountId);
    assert.deepEqual(await holders(caller.accountId), [later.job._id]);
    await endHolders(caller.accountId);
    await domain.flush();
    assert.equal((await domain.ledger.find(caller.accountId))?.waiting, 0);
  });

  it('lets items end by themselves that get a slot meanwhile', async () => {
    for (let run = 0; run < 8; run += 1) {
      const caller = callerWith(domain.plan);
      const batch = await opened(caller, ITEMS);
      await domain.batches.service.cancel(caller, batch._id);
      // Slots are handed to the next in line while those are being cancelled.
      while (pendingOf(await found(batch)) > 0) await endHolders(caller.accountId);
      await domain.flush();
      await domain.batches.reconciler.idle();
      await assertOver(batch);
    }
  });

  describe('is continued by a sweep when its process dies', () => {
    const steps = {
      'naming them': () => dieAt(domain.ledger, 'announceEnds'),
      'cancelling them': () => dieAt(domain.store.transitions, 'cancel'),
      'giving back what they held': () => dieAt(domain.ledger, 'leave'),
      'counting them in their batch': () => dieAt(domain.batches.store, 'count'),
      'forgetting them': () => dieAt(domain.ledger, 'forgetEnded'),
    };

    for (const when of ['before', 'after'] as const) {
      for (const [name, dying] of Object.entries(steps)) {
        for (const passed of [false, true]) {
          const how = passed ? ', and the head reaches them before a sweep' : '';
          it(`${when} ${name}${how}`, async () => {
            const caller = callerWith(domain.plan);
            const batch = await opened(caller, ITEMS);
            assert.equal(chunkCount(batch), CHUNKS);
            // Of the chunks, the last to be cancelled is the one that is at the head of the queue.
            const restore = dying()(CHUNKS, when);
            await domain.batches.service.cancel(caller, batch._id);
            await domain.batches.reconciler.idle();
            restore();
            if (passed) {
              await endHolders(caller.accountId);
              await domain.flush();
            }
            domain.clock.pass(LONG_MS);
            for (let i = 0; i < 3; i += 1) await sweep();
            await endHolders(caller.accountId);
            await sweep();
            domain.clock.pass(UNDECIDED_MS);
            await sweep();
            await assertOver(batch);
          });
        }
      }
    }
  });
});
