import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
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

  const jobs = () => domain.connection.collection<Job>('jobs');

  it('rejects further jobs without a trace, with a Retry-After that follows from the running jobs', async () => {
    // Two slots have been held for ten seconds, half of their expected time, so that one ends every ten seconds.
    for (const [account, heldForMs] of [
      ['new', 0],
      ['quick', 500],
      ['slow', 9500],
      ['endless', 300_000],
    ] as const) {
      const began = domain.clock.now().getTime();
      const { retryAfterSeconds = 0 } = await fill(account, heldForMs);
      const longest = domain.clock.now().getTime() - began;
      const [least, most] = [heldForMs, longest].map((ms) => Math.min(60, Math.max(1, Math.ceil(ms / 1000))));
      assert.ok(
        retryAfterSeconds >= least! && retryAfterSeconds <= most!,
        `${account}: ${retryAfterSeconds} s`,
      );
    }
  });

  it('admits the next job as soon as one has ended', async () => {
    await fill('a', 0);
    const running = await jobs().findOne({ accountId: 'a', state: 'dispatched' });
    await endEarly(domain, [running as Job]);
    await domain.admit(newJob('a'));
  });

  it('holds for a hundred concurrent jobs at two processes', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, n) => {
        return (n % 2 ? domain : other).admit(newJob('burst'));
      }),
    );
    const rejected = outcomes.filter(({ status }) => status === 'rejected');
    for (const { reason } of rejected as PromiseRejectedResult[])
      assert.equal(reason.code, 'TOO_MANY_WAITING');
    assert.equal(await jobs().countDocuments({ accountId: 'burst', state: 'queued' }), 3);
    assert.equal(await jobs().countDocuments({ accountId: 'burst' }), 5);
    assert.equal(rejected.length, 95);
    assert.equal(await jobs().countDocuments({ accountId: 'burst', input: { $exists: true } }), 5);
  });

  /** Fills an account's slots and its queue, and lets time pass. @returns the error of the next job. */
  async function fill(account: string, heldForMs: number): Promise<PlatenError> {
    for (let i = 0; i < 5; i += 1) {
      await domain.admit(newJob(account));
    }
    domain.clock.pass(heldForMs);
    const rejected = newJob(account);
    let rejection: unknown;
    await domain.admit(rejected).catch((error: unknown) => {
      rejection = error;
    });
    assert.ok(rejection instanceof PlatenError);
    assert.equal(rejection.code, 'TOO_MANY_WAITING');
    assert.equal(await domain.store.inputs.load(rejected.job._id), undefined);
    assert.equal(await domain.store.live.find(rejected.job._id), undefined);
    assert.equal(await slotsInUse(domain, account), 2);
    return rejection;
  }
});
