import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlatenError } from '../../src/errors/registry.ts';
import { endEarly } from '../../src/jobs/end-early.ts';
import type { Job } from '../../src/jobs/job.ts';
import { DEFAULT_POOL } from '../../src/plans/names.ts';
import { outputKey } from '../../src/store/outputs/output-store.ts';
import { quotaPeriod } from '../../src/usage/quota-period.ts';
import { type Domain, newJob, openDomain, slotsInUse } from '../support/domain.ts';
import { eventually } from '../support/eventually.ts';
import { startMongo } from '../support/mongo.ts';

const period = quotaPeriod(new Date());

describe('races over slots and claims', function () {
  this.timeout(240_000);
  let first: Domain;
  let second: Domain;
  beforeEach(async () => {
    const { uri } = await startMongo();
    const plan = { concurrentRenders: 4, maxWaitingJobs: 10_000 };
    first = await openDomain({ uri, plan });
    second = await openDomain({ uri, plan });
  });
  afterEach(async () => {
    await first.close();
    await second.close();
  });

  it('two processes that take and give back slots a thousand times never exceed the plan, and end at none', async () => {
    let held = 0;
    let most = 0;
    const use = async (domain: Domain, name: string) => {
      if (!(await domain.ledger.takeSlot('a', name, 4, undefined))) return;
      held += 1;
      most = Math.max(most, held);
      await new Promise(setImmediate);
      held -= 1;
      // Twice, as after a crash between two steps: the second changes nothing.
      await Promise.all([first, second].map(({ ledger }) => ledger.undoSlot('a', name, undefined)));
    };
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => use(i % 2 ? first : second, `${round}-${i}`)));
    }
    assert.ok(most > 1 && most <= 4, `${most} held at a time`);
    assert.equal(await slotsInUse(first, 'a'), 0);
  });

  it('of ten who claim the same pointer one wins, a hundred times', async () => {
    for (let i = 0; i < 100; i += 1) {
      const { job, input } = newJob(`account-${i}`);
      await first.admit({ job, input });
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 ? first : second).store.transitions.claim(job, `w${n}`, 15_000),
        ),
      );
      assert.equal(claims.filter((claim) => claim !== undefined).length, 1);
    }
  });

  it('a cancel and a completion at the same moment: exactly one of them holds, a hundred times', async () => {
    let cancelledFirst = 0;
    for (let i = 0; i < 100; i += 1) {
      const { job, input } = newJob('a');
      await first.admit({ job, input });
      const claimed = (await first.store.transitions.claim(job, 'w', 15_000)) as Job;
      const expiresAt = new Date(Date.now() + 1e6);
      const output = { key: outputKey(job._id, 2, expiresAt), size: 1, pages: 1, sha256: '' };
      const cancel = () => second.store.transitions.cancel(claimed);
      const complete = () => first.store.transitions.complete(claimed, output, expiresAt);
      // Each has the head start half of the time.
      const both = i % 2 ? [cancel(), complete()] : [complete(), cancel()].reverse();
      const [cancelled, completed] = await Promise.all(both);
      assert.ok((cancelled === undefined) !== (completed === undefined));
      if (cancelled !== undefined) cancelledFirst += 1;
      await Promise.all([cancelled, completed].map((job) => job && first.ends.follow(job)));
      assert.equal(await slotsInUse(first, 'a'), 0);
    }
    assert.ok(cancelledFirst > 0 && cancelledFirst < 100, `${cancelledFirst} cancelled`);
  });

  it('a renewal and the expiry of the same lease at the same moment: exactly one of them holds, a thousand times', async () => {
    let renewedFirst = 0;
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const { job, input } = newJob(`a-${round}-${i}`);
          await first.admit({ job, input });
          // The lease has just ended when both of them come.
          const claimed = (await first.store.transitions.claim(job, 'w', 0)) as Job;
          const renew = () => first.store.transitions.renew('w', [claimed], 60_000);
          const expire = () => second.store.transitions.fail(claimed, new PlatenError('WORKER_LOST'), true);
          const [lost, failed] =
            i % 2
              ? await Promise.all([renew(), expire()])
              : ((await Promise.all([expire(), renew()])).reverse() as [string[], Job | undefined]);
          const now = (await first.store.live.find(job._id)) as Job;
          if (failed === undefined) {
            renewedFirst += 1;
            assert.deepEqual(lost, []);
            assert.equal(now.state, 'processing');
            assert.ok((now.leaseExpiresAt?.getTime() ?? 0) > Date.now() + 30_000);
          } else assert.equal(now.state, 'failed');
        }),
      );
    }
    assert.ok(renewedFirst > 0 && renewedFirst < 1000, `${renewedFirst} renewed in time`);
  });

  it('jobs that are cancelled while slots are handed to them leave nothing behind, a thousand times', async () => {
    const ids: string[] = [];
    for (let start = 0; start < 1000; start += 50) {
      const jobs = Array.from({ length: 50 }, () => newJob('a'));
      await (start % 100 ? first : second).admit(...jobs);
      ids.push(...jobs.map(({ job }) => job._id));
      await Promise.all(
        jobs.map(async ({ job }, i) => {
          const domain = i % 2 ? first : second;
          for (;;) {
            const seen = await domain.store.find('a', job._id);
            if (seen?.state === 'cancelled') return;
            await endEarly(domain, seen as Job, (live) => domain.store.transitions.cancel(live));
          }
        }),
      );
    }
    await first.flush();
    await second.flush();
    const record = await first.ledger.find('a');
    assert.deepEqual([record?.inFlight, record?.waiting], [0, 0]);
    assert.deepEqual([record?.holders, record?.leaving, record?.ending], [{}, {}, {}]);
    assert.equal(first.ended.length + second.ended.length, 1000);
    // Those that ended at their places are moved when their turn comes, which it does with the next job.
    const last = newJob('a');
    await first.admit(last);
    await endEarly(first, (await first.store.live.find(last.job._id)) as Job, (live) =>
      first.store.transitions.cancel(live),
    );
    await first.flush();
    assert.equal(await first.connection.collection('jobs').countDocuments(), 0);
    assert.equal((await first.store.history.among(ids)).size, 1000);
  });

  it('waiting jobs that two cancel at about the same moment leave their places once, a thousand times', async () => {
    for (let start = 0; start < 1000; start += 100) {
      const accountId = `a-${start}`;
      const jobs = Array.from({ length: 100 }, () => newJob(accountId, { quotaPeriod: period }));
      await first.admit(...jobs);
      const seen = await first.store.live.among(jobs.map(({ job }) => job._id));
      await Promise.all(
        [...seen.values()].map(async (job) => {
          const cancel = (domain: Domain) =>
            endEarly(domain, job, (live) => domain.store.transitions.cancel(live));
          // The second has seen it waiting, too, and comes at any step of what the first does.
          const both = [cancel(first), sleep(Math.random() * 40).then(() => cancel(second))];
          const ended = (await Promise.all(both)).filter((found) => found !== undefined);
          assert.ok(ended.length <= 1);
        }),
      );
      await first.flush();
      await second.flush();
      const record = (await first.ledger.find(accountId))!;
      const running = Object.keys(record.holders ?? {}).length;
      assert.deepEqual([record.inFlight, record.waiting, record.leaving], [running, 0, {}]);
      assert.equal(record.quota?.[period], running);
    }
  });

  it('a thousand jobs submitted and ended at once by two processes all run, four at a time, and leave no slot taken', async () => {
    const ended = new Set<string>();
    const running = new Set<string>();
    let most = 0;
    const consume = (domain: Domain) =>
      domain.bus.consumePointers(DEFAULT_POOL, {
        reserve: async () => ({ release: () => {} }),
        accept: async (pointer) => {
          const seen = { _id: pointer.jobId, version: pointer.version };
          const claimed = await domain.store.transitions.claim(seen, 'w', 15_000);
          if (claimed === undefined) return;
          running.add(pointer.jobId);
          most = Math.max(most, running.size);
          void (async () => {
            const expiresAt = new Date(Date.now() + 1e6);
            const output = { key: outputKey(pointer.jobId, 2, expiresAt), size: 1, pages: 1, sha256: '' };
            // Long enough for a fifth to begin, if there were a slot for it.
            await new Promise((resolve) => setTimeout(resolve, 2));
            // It runs until its end is recorded: only after that may its slot be anybody else's.
            running.delete(pointer.jobId);
            const done = await domain.store.transitions.complete(claimed, output, expiresAt);
            assert.ok(done && !ended.has(pointer.jobId));
            ended.add(pointer.jobId);
            await domain.ends.follow(done);
          })();
        },
      });
    const subscriptions = await Promise.all([consume(first), consume(second)]);
    const submit = async (domain: Domain, count: number) => {
      for (let i = 0; i < count; i += 1) await domain.admit(newJob('a'));
    };
    await Promise.all([submit(first, 250), submit(second, 250), submit(first, 250), submit(second, 250)]);
    await eventually('all have ended, without any sweep', async () => ended.size === 1000, 180_000);
    for (const subscription of subscriptions) await subscription.stop();
    assert.ok(most > 1 && most <= 4, `${most} ran at a time`);
    await eventually('every slot is free', async () => (await slotsInUse(first, 'a')) === 0);
  });
});
