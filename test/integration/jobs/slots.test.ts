import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { type Domain, newJob, openDomain, slotsInUse, useDomain } from '../../support/domain.ts';

const states = async (domain: Domain) => {
  const jobs = await domain.connection.collection<Job>('jobs').find({}).toArray();
  const count = (state: string) => jobs.filter((job) => job.state === state).length;
  return { queued: count('queued'), dispatched: count('dispatched'), processing: count('processing') };
};

const dispatchedIds = async (domain: Domain) =>
  (await domain.connection.collection<Job>('jobs').find({ state: 'dispatched' }).toArray()).map(
    (job) => job._id,
  );

const seen = async (domain: Domain, id: string) => (await domain.store.live.find(id)) as Job;

/** Ends a dispatched job as a worker does. */
async function render(domain: Domain, jobId: string): Promise<void> {
  const { transitions } = domain.store;
  const claimed = await transitions.claim(await seen(domain, jobId), 'worker', 15_000);
  assert.ok(claimed);
  const expiresAt = new Date(Date.now() + 1e6);
  const output = { key: outputKey(jobId, 1, expiresAt), size: 1, pages: 1, sha256: '' };
  const completed = await transitions.complete(claimed.job, output, expiresAt);
  assert.ok(completed);
  await domain.followUp.follow([completed]);
}

describe('plan slots', () => {
  const domain = useDomain({ plan: { concurrentRenders: 3, maxWaitingJobs: 10 } }, 'each');

  const submit = async (accountId: string, overrides: Partial<Job> = {}) => {
    const job = newJob(accountId, overrides);
    await domain.admit(job);
    return job.job._id;
  };

  it("dispatch at most the plan's concurrency, and keep the rest waiting", async () => {
    for (let i = 0; i < 8; i += 1) await submit('a');
    assert.deepEqual(await states(domain), { queued: 5, dispatched: 3, processing: 0 });
    assert.equal(await slotsInUse(domain, 'a'), 3);
    assert.equal((await domain.ledger.find('a'))?.waiting, 5);
  });

  it("do not let one account's backlog stand before another's work", async () => {
    for (let i = 0; i < 8; i += 1) await submit('a');
    const other = await submit('b');
    assert.equal((await seen(domain, other)).state, 'dispatched');
  });

  it('are given to the next job when one ends, until none waits', async () => {
    for (let i = 0; i < 8; i += 1) await submit('a');
    for (let left = 8; left > 0; left -= 1) {
      const { queued, dispatched } = await states(domain);
      assert.deepEqual([queued, dispatched], [Math.max(0, left - 3), Math.min(3, left)]);
      await render(domain, (await dispatchedIds(domain))[0]!);
    }
    assert.equal(await slotsInUse(domain, 'a'), 0);
    assert.equal((await domain.ledger.find('a'))?.waiting, 0);
  });

  it('serve interactive jobs before bulk ones, and each in the order of their arrival', async () => {
    for (let i = 0; i < 3; i += 1) await submit('a');
    const bulk = await submit('a');
    const first = await submit('a', { class: 'interactive' });
    const second = await submit('a', { class: 'interactive' });
    const order: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const before = new Set(await dispatchedIds(domain));
      await render(domain, [...before][0]!);
      order.push(...(await dispatchedIds(domain)).filter((id) => !before.has(id)));
    }
    assert.deepEqual(order, [first, second, bulk]);
  });

  it('reject a job when the queue of the account is full, and leave no trace of it', async () => {
    for (let i = 0; i < 13; i += 1) await submit('a');
    await assert.rejects(submit('a'), { code: 'TOO_MANY_WAITING', status: 429 });
    assert.equal(await domain.connection.collection('job_inputs').countDocuments(), 0);
    assert.equal(await domain.connection.collection('jobs').countDocuments({ input: { $exists: true } }), 13);
    await submit('b');
  });

  it('admit many jobs together or none of them, with their quota', async () => {
    const period = quotaPeriod(new Date());
    const many = (count: number) => Array.from({ length: count }, () => newJob('a', { quotaPeriod: period }));
    await assert.rejects(domain.admit(...many(11)), { code: 'TOO_MANY_WAITING' });
    assert.equal(await domain.ledger.quotaUsed('a', period), 0);
    const six = many(6);
    await domain.admit(...six);
    assert.deepEqual(await states(domain), { queued: 3, dispatched: 3, processing: 0 });
    assert.equal(await domain.ledger.quotaUsed('a', period), 6);
    assert.deepEqual(
      new Set(await dispatchedIds(domain)),
      new Set(six.slice(0, 3).map(({ job }) => job._id)),
      'in their order',
    );
    const scarce = await openDomain({ plan: { monthlyRenders: 5 } });
    await assert.rejects(scarce.admit(...many(6)), { code: 'QUOTA_EXCEEDED', status: 403 });
    await scarce.admit(...many(5));
    await assert.rejects(scarce.admit(...many(1)), { code: 'QUOTA_EXCEEDED' });
    await scarce.close();
  });

  it('are given back when a job is cancelled, in whatever state it is', async () => {
    for (let i = 0; i < 4; i += 1) await submit('a');
    const processing = await seen(domain, (await dispatchedIds(domain))[0]!);
    const claimed = await domain.store.transitions.claim(processing, 'worker', 15_000);
    for (;;) {
      const [job] = await domain.connection
        .collection<Job>('jobs')
        .find({ state: { $ne: 'cancelled' } })
        .toArray();
      if (job === undefined) break;
      await endEarly(domain, [job]);
    }
    assert.equal(await slotsInUse(domain, 'a'), 0);
    assert.equal((await domain.ledger.find('a'))?.waiting, 0);
    assert.deepEqual(
      await domain.store.transitions.fail([claimed!.job], new PlatenError('RENDER_FAILED')),
      [],
      'the fence holds no more',
    );
  });

  it('pass over a job that was cancelled while it waited, and keep it visible meanwhile', async () => {
    for (let i = 0; i < 3; i += 1) await submit('a');
    const waiting = [await submit('a'), await submit('a'), await submit('a')];
    const cancelled = await seen(domain, waiting[1]!);
    await endEarly(domain, [cancelled]);
    await domain.flush();
    assert.equal((await domain.store.find('a', waiting[1]!))?.state, 'cancelled');
    assert.equal((await domain.ledger.find('a'))?.waiting, 2);
    for (let left = 5; left > 0; left -= 1) await render(domain, (await dispatchedIds(domain))[0]!);
    await domain.flush();
    assert.equal((await domain.store.find('a', waiting[1]!))?.state, 'cancelled');
    assert.equal(await domain.connection.collection('jobs').countDocuments(), 0);
  });
});
