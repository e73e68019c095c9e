import assert from 'node:assert/strict';
import { outputKey } from '../../src/infra/outputs/output-store.ts';
import { quotaPeriod } from '../../src/tenants/plans/quota-period.ts';
import { endEarly } from '../../src/work/jobs/end-early.ts';
import type { Job } from '../../src/work/jobs/job.ts';
import { repairInterruptedJobs } from '../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { type Domain, newJob, openDomain } from '../support/domain.ts';
import { startMongo } from '../support/mongo.ts';

const period = quotaPeriod(new Date());

describe('Races over quota', () => {
  let first: Domain;
  let second: Domain;
  beforeEach(async () => {
    const { uri } = await startMongo();
    const plan = { monthlyRenders: 100_000, maxWaitingJobs: 100_000, concurrentRenders: 300 };
    first = await openDomain({ uri, plan });
    second = await openDomain({ uri, plan });
  });
  afterEach(async () => {
    await first.close();
    await second.close();
  });
  const domainOf = (i: number) => (i % 2 ? first : second);
  const take = (i: number, jobId: string, limit = 100_000) =>
    domainOf(i).ledger.takeSlot('a', jobId, 100_000, { period, limit });
  const used = () => first.ledger.quotaUsed('a', period);

  it('of 400 jobs from two processes exactly as many are admitted as the quota has', async () => {
    const responses = await Promise.all(Array.from({ length: 400 }, (_, i) => take(i, `job-${i}`, 150)));
    assert.equal(responses.filter((taken) => taken).length, 150);
    assert.equal(await used(), 150);
  });

  it('of groups of jobs that come together each is admitted whole or not at all', async () => {
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        domainOf(i).ledger.takePositions(
          'a',
          { id: `group-${i}`, jobs: Array.from({ length: 7 }, (_, n) => `${i}-${n}`), queue: 'bulk' },
          { maxWaiting: 100_000, quota: { period, limit: 150 } },
        ),
      ),
    );
    const firsts = responses.filter((first) => first !== undefined).sort((a, b) => a - b);
    assert.deepEqual(
      firsts,
      Array.from({ length: 21 }, (_, i) => i * 7),
    );
    assert.equal(await used(), 147);
  });

  it('charge concurrent reservations of two processes for the same job once, a thousand times', async () => {
    await pairs(1000, async (jobId) => {
      const both = await Promise.all([1, 2].map((i) => take(i, jobId)));
      assert.deepEqual(both.sort(), [false, true]);
    });
    assert.equal(await used(), 1000);
  });

  it('given back three times at once it is given back once, a thousand times', async () => {
    await pairs(1000, async (jobId, i) => {
      await take(i, jobId);
      const ended = { ...newJob('a', { quotaPeriod: period }).job, _id: jobId, state: 'failed' as const };
      await Promise.all([1, 2, 3].map((n) => domainOf(n).ledger.leave([ended])));
    });
    assert.equal(await used(), 0);
  });

  it('undone by a rejection and by the sweep at once it is undone once, and that of a job that ended never', async () => {
    await pairs(500, async (jobId, i) => {
      await take(i, jobId);
      await Promise.all([1, 2].map((n) => domainOf(n).ledger.undoSlot('a', jobId, period)));
      await take(i, `${jobId}-completed`);
      const ended = { ...newJob('a', { quotaPeriod: period }).job, _id: `${jobId}-completed` };
      await domainOf(i).ledger.leave([{ ...ended, state: 'completed' }]);
      await domainOf(i).ledger.undoSlot('a', `${jobId}-completed`, period);
    });
    assert.equal(await used(), 500);
  });

  it('give back each job once in a cancellation of more jobs than a process remembers', async () => {
    const jobs = Array.from({ length: 1200 }, () => newJob('a', { quotaPeriod: period }));
    await first.admit(...jobs);
    assert.equal(await used(), 1200);
    const cancel = async (domain: Domain, id: string) => {
      const seen = await domain.store.find('a', id);
      if (seen === undefined || seen.state === 'cancelled') return;
      await endEarly(domain, [seen]);
    };
    for (let start = 0; start < jobs.length; start += 50) {
      await Promise.all(
        jobs.slice(start, start + 50).map(async ({ job }, i) => {
          await cancel(domainOf(i), job._id);
          // The sweep comes by as well, long after.
          await cancel(domainOf(i + 1), job._id);
        }),
      );
    }
    await Promise.all([first.flush(), second.flush()]);
    // Jobs that got a slot while others were cancelled.
    for (const { job } of jobs) await cancel(first, job._id);
    assert.equal(await used(), 0);
  });

  it('leave as much quota used as there are PDFs, with two concurrent sweeps while jobs end', async () => {
    let completed = 0;
    const ended: Promise<unknown>[] = [];
    for (let i = 0; i < 200; i += 1) {
      const { job, input } = newJob('a', { quotaPeriod: period });
      // One admission in four crashes before the job is written.
      if (i % 4 === 0) await take(i, job._id);
      else {
        await first.admit({ job, input });
        const live = (await first.store.live.find(job._id)) as Job;
        if (i % 4 === 1) {
          completed += 1;
          // A waiting job has no slot to end from; cancelling others frees one.
          ended.push(complete(domainOf(i), live));
        } else ended.push(endEarly(domainOf(i), [live]));
      }
    }
    await Promise.all(ended);
    await Promise.all([first.flush(), second.flush()]);
    first.clock.pass(120_000);
    second.clock.pass(120_000);
    const sweep = async (domain: Domain) =>
      repairInterruptedJobs(
        { ...domain, redeliveryMs: 1e9, retryBaseMs: 1000, random: Math.random, onRetried: () => {} },
        await domain.ledger.active(),
      );
    await Promise.all([sweep(first), sweep(second), sweep(first)]);
    assert.equal(await used(), completed);
  });
});

/** Claims and ends jobs like a worker. Every job gets a slot at once, since the plan has enough of them. */
async function complete(domain: Domain, job: Job): Promise<void> {
  const { transitions } = domain.store;
  let seen: Job | undefined = job;
  while (seen?.state === 'queued') seen = await domain.store.live.find(job._id);
  const claimed = await transitions.claim(seen as Job, 'w', 1e9);
  const expiresAt = new Date(Date.now() + 1e6);
  const output = { key: outputKey(job._id, 1, expiresAt), size: 1, pages: 1, sha256: '' };
  const completed = await transitions.complete(claimed!.job, output, expiresAt);
  await domain.followUp.follow([completed as Job]);
}

/** Calls `race` for each job, 20 of them concurrently. */
async function pairs(count: number, race: (jobId: string, i: number) => Promise<void>): Promise<void> {
  for (let start = 0; start < count; start += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => race(`job-${start + i}`, start + i)));
  }
}
