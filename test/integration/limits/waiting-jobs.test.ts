import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/errors/registry.ts';
import { type Domain, newJob, openDomain, slotsInUse } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';

const PLAN = { concurrentRenders: 2, maxWaitingJobs: 3 };

describe('The cap on waiting jobs', () => {
  let domain: Domain;
  let other: Domain;
  before(async () => {
    const { uri } = await startMongo();
    domain = await openDomain({ uri, plan: PLAN });
    other = await openDomain({ uri, plan: PLAN });
  });
  after(async () => {
    await other.close();
    await domain.close();
  });

  it('refuses what is too much, leaves nothing of it behind, and names a wait that follows from what runs', async () => {
    assert.equal((await fill('new', 0)).retryAfterSeconds, 1);
    assert.equal((await fill('quick', 500)).retryAfterSeconds, 1);
    // Two slots that have been held for ten seconds: half of their time, so one ends every ten.
    assert.equal((await fill('slow', 9500)).retryAfterSeconds, 10);
    assert.equal((await fill('endless', 300_000)).retryAfterSeconds, 60);
  });

  it('lets the next one in as soon as one has ended', async () => {
    await fill('a', 0);
    const running = await domain.collections.jobs.findOne({ accountId: 'a', state: 'dispatched' }).lean();
    const ended = await domain.lifecycle.cancel(running as never);
    await domain.dispatch.settle(ended!);
    const { job, input } = newJob('a');
    await domain.dispatch.submit(job, input);
  });

  it('holds when a hundred come at the same moment, at two processes', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, n) => {
        const { job, input } = newJob('burst');
        return (n % 2 ? domain : other).dispatch.submit(job, input);
      }),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    for (const { reason } of refused as PromiseRejectedResult[])
      assert.equal(reason.code, 'TOO_MANY_WAITING');
    const { jobs, inputs } = domain.collections;
    const waiting = await jobs.countDocuments({ accountId: 'burst', state: 'queued' });
    // Each of the two counts by itself.
    assert.ok(waiting >= 3 && waiting <= 4, `${waiting} are waiting`);
    const accepted = await jobs.countDocuments({ accountId: 'burst' });
    assert.equal(refused.length, 100 - accepted);
    assert.equal(await inputs.countDocuments({ accountId: 'burst' }), accepted);
  });

  /** Fills an account's slots and its queue, and lets time pass. @returns what the next one is refused with. */
  async function fill(account: string, heldForMs: number): Promise<PlatenError> {
    for (let i = 0; i < 5; i += 1) {
      const { job, input } = newJob(account);
      await domain.dispatch.submit(job, input);
    }
    domain.clock.pass(heldForMs);
    const { job, input } = newJob(account);
    let refusal: unknown;
    await domain.dispatch.submit(job, input).catch((error: unknown) => {
      refusal = error;
    });
    assert.ok(refusal instanceof PlatenError);
    assert.equal(refusal.code, 'TOO_MANY_WAITING');
    assert.equal(await domain.collections.inputs.findById(job._id), null);
    assert.equal(await domain.collections.jobs.findById(job._id), null);
    assert.equal(await slotsInUse(domain, account), 2);
    return refusal;
  }
});
