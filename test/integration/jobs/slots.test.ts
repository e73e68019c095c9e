import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/errors/registry.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { outputKey } from '../../../src/store/outputs/output-store.ts';
import { type Domain, newJob, openDomain, slotsInUse } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';

const states = async (domain: Domain) => {
  const jobs = await domain.collections.jobs.find({}).lean();
  const count = (state: string) => jobs.filter((job) => job.state === state).length;
  return { queued: count('queued'), dispatched: count('dispatched'), processing: count('processing') };
};

/** Ends a dispatched job as a worker does. */
async function render(domain: Domain, jobId: string): Promise<void> {
  const seen = (await domain.collections.jobs.findById(jobId).lean()) as Job;
  const claimed = await domain.lifecycle.claim(seen, 'worker', 15_000);
  assert.ok(claimed);
  const expiresAt = new Date(Date.now() + 1e6);
  const output = { key: outputKey(jobId, 1, expiresAt), size: 1, pages: 1, sha256: '' };
  const completed = await domain.lifecycle.complete(claimed, output, expiresAt);
  assert.ok(completed);
  await domain.dispatch.settle(completed);
}

const dispatchedId = async (domain: Domain) =>
  (await domain.collections.jobs.findOne({ state: 'dispatched' }).lean())!._id;

describe('plan slots', () => {
  let domain: Domain;
  beforeEach(async () => {
    domain = await openDomain({ plan: { concurrentRenders: 3, maxWaitingJobs: 10 } });
  });
  afterEach(() => domain.close());

  const submit = async (accountId: string, over: Partial<Job> = {}) => {
    const { job, input } = newJob(accountId, over);
    await domain.dispatch.submit(job, input);
    return job._id;
  };

  it("dispatch at most the plan's concurrency, and keep the rest waiting", async () => {
    for (let i = 0; i < 8; i += 1) await submit('a');
    assert.deepEqual(await states(domain), { queued: 5, dispatched: 3, processing: 0 });
    assert.equal(await slotsInUse(domain, 'a'), 3);
  });

  it("do not let one account's backlog stand before another's work", async () => {
    for (let i = 0; i < 8; i += 1) await submit('a');
    const other = await submit('b');
    assert.equal((await domain.collections.jobs.findById(other).lean())?.state, 'dispatched');
  });

  it('go on to who came meanwhile when a job is refused after all', async () => {
    for (let i = 0; i < 2; i += 1) await submit('a');
    const refusal = Promise.withResolvers<never>();
    const { job, input } = newJob('a');
    const refused = domain.dispatch.submit(job, input, { granted: refusal.promise });
    await eventually('the third slot is taken', async () => (await slotsInUse(domain, 'a')) === 3);
    const waiting = await submit('a');
    assert.deepEqual(await states(domain), { queued: 1, dispatched: 2, processing: 0 });
    refusal.reject(new PlatenError('QUOTA_EXCEEDED'));
    await assert.rejects(refused, { code: 'QUOTA_EXCEEDED' });
    assert.deepEqual(await states(domain), { queued: 0, dispatched: 3, processing: 0 });
    assert.equal((await domain.collections.jobs.findById(waiting).lean())?.state, 'dispatched');
    assert.equal(await domain.collections.inputs.findById(job._id).lean(), null);
  });

  it('are handed straight on when a job ends, until none waits', async () => {
    for (let i = 0; i < 8; i += 1) await submit('a');
    for (let left = 8; left > 0; left -= 1) {
      const { queued, dispatched } = await states(domain);
      assert.deepEqual([queued, dispatched], [Math.max(0, left - 3), Math.min(3, left)]);
      await render(domain, await dispatchedId(domain));
    }
    assert.equal(await slotsInUse(domain, 'a'), 0);
  });

  it('serve interactive jobs before bulk ones, and each in the order of their arrival', async () => {
    for (let i = 0; i < 3; i += 1) await submit('a');
    const start = Date.now() - 10_000;
    const at = (ms: number) => new Date(start + ms);
    const bulk = await submit('a', { createdAt: at(1) });
    const second = await submit('a', { class: 'interactive', priority: 0, createdAt: at(3) });
    const first = await submit('a', { class: 'interactive', priority: 0, createdAt: at(2) });
    const order: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const before = new Set(
        (await domain.collections.jobs.find({ state: 'dispatched' }).lean()).map((job) => job._id),
      );
      await render(domain, [...before][0] as string);
      const after = (await domain.collections.jobs.find({ state: 'dispatched' }).lean()).map(
        (job) => job._id,
      );
      order.push(...after.filter((id) => !before.has(id)));
    }
    assert.deepEqual(order, [first, second, bulk]);
  });

  it('refuse a job when the queue of the account is full, and leave nothing of it behind', async () => {
    for (let i = 0; i < 13; i += 1) await submit('a');
    await assert.rejects(submit('a'), { code: 'TOO_MANY_WAITING', status: 429 });
    assert.equal(await domain.collections.inputs.countDocuments({}), 13);
    assert.equal(await domain.collections.jobs.countDocuments({}), 13);
    await submit('b');
  });

  it('are given back when a job is cancelled, in whatever state it is', async () => {
    for (let i = 0; i < 4; i += 1) await submit('a');
    const processing = (await domain.collections.jobs.findById(await dispatchedId(domain)).lean()) as Job;
    const claimed = await domain.lifecycle.claim(processing, 'worker', 15_000);
    for (;;) {
      const job = (await domain.collections.jobs
        .findOne({ state: { $ne: 'cancelled' } })
        .lean()) as Job | null;
      if (job === null) break;
      const cancelled = await domain.lifecycle.cancel(job);
      if (cancelled !== undefined) await domain.dispatch.settle(cancelled);
    }
    assert.equal(await slotsInUse(domain, 'a'), 0);
    assert.equal(
      await domain.lifecycle.fail(claimed!, new Error() as never),
      undefined,
      'the fence holds no more',
    );
  });
});
