import assert from 'node:assert/strict';
import { DEFAULT_POOL } from '../../src/bus/bus.ts';
import type { Job } from '../../src/jobs/job.ts';
import { outputKey } from '../../src/store/outputs/output-store.ts';
import { type Domain, newJob, openDomain, slotsInUse } from '../support/domain.ts';
import { startMongo } from '../support/mongo.ts';

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
      if (!(await domain.slots.acquire('a', name, 4, true))) return;
      held += 1;
      most = Math.max(most, held);
      await new Promise(setImmediate);
      held -= 1;
      // Twice, as after a crash between two steps: the second changes nothing.
      await Promise.all([first.slots.release('a', name), second.slots.release('a', name)]);
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
      await first.dispatch.submit(job, input);
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_, n) => (n % 2 ? first : second).lifecycle.claim(job, `w${n}`, 15_000)),
      );
      assert.equal(claims.filter((claim) => claim !== undefined).length, 1);
    }
  });

  it('a cancel and a completion at the same moment: exactly one of them holds, a hundred times', async () => {
    let cancelledFirst = 0;
    for (let i = 0; i < 100; i += 1) {
      const { job, input } = newJob('a');
      await first.dispatch.submit(job, input);
      const claimed = (await first.lifecycle.claim(job, 'w', 15_000)) as Job;
      const expiresAt = new Date(Date.now() + 1e6);
      const output = { key: outputKey(job._id, 2, expiresAt), size: 1, pages: 1, sha256: '' };
      const cancel = () => second.lifecycle.cancel(claimed);
      const complete = () => first.lifecycle.complete(claimed, output, expiresAt);
      // Each has the head start half of the time.
      const both = i % 2 ? [cancel(), complete()] : [complete(), cancel()].reverse();
      const [cancelled, completed] = await Promise.all(both);
      assert.ok((cancelled === undefined) !== (completed === undefined));
      if (cancelled !== undefined) cancelledFirst += 1;
      await Promise.all([cancelled, completed].map((job) => job && first.dispatch.settle(job)));
      assert.equal(await slotsInUse(first, 'a'), 0);
    }
    assert.ok(cancelledFirst > 0 && cancelledFirst < 100, `${cancelledFirst} cancelled`);
  });

  it('a thousand jobs submitted and ended at once by two processes all run, four at a time, and leave no slot taken', async () => {
    const ended = new Set<string>();
    let running = 0;
    let most = 0;
    const consume = (domain: Domain) =>
      domain.bus.consumePointers(DEFAULT_POOL, {
        reserve: async () => ({ release: () => {} }),
        accept: async (pointer) => {
          const seen = { _id: pointer.jobId, version: pointer.version };
          const claimed = await domain.lifecycle.claim(seen, 'w', 15_000);
          if (claimed === undefined) return;
          running += 1;
          most = Math.max(most, running);
          void (async () => {
            const expiresAt = new Date(Date.now() + 1e6);
            const output = { key: outputKey(pointer.jobId, 2, expiresAt), size: 1, pages: 1, sha256: '' };
            running -= 1;
            const done = await domain.lifecycle.complete(claimed, output, expiresAt);
            assert.ok(done && !ended.has(pointer.jobId));
            await domain.dispatch.settle(done);
            ended.add(pointer.jobId);
          })();
        },
      });
    const subscriptions = await Promise.all([consume(first), consume(second)]);
    const submit = async (domain: Domain, count: number) => {
      for (let i = 0; i < count; i += 1) {
        const { job, input } = newJob('a');
        await domain.dispatch.submit(job, input);
      }
    };
    await Promise.all([submit(first, 250), submit(second, 250), submit(first, 250), submit(second, 250)]);
    const deadline = Date.now() + 180_000;
    while (ended.size < 1000 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    for (const subscription of subscriptions) await subscription.stop();
    assert.equal(ended.size, 1000, 'without any sweep');
    assert.ok(most <= 4, `${most} ran at a time`);
    assert.equal(await slotsInUse(first, 'a'), 0);
  });
});
