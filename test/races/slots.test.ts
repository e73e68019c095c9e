import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { PlatenError } from '../../src/infra/errors/registry.ts';
import { createGridFsOutputStore } from '../../src/infra/outputs/gridfs.ts';
import { outputKey } from '../../src/infra/outputs/output-store.ts';
import { WorkerSlots } from '../../src/infra/scheduling/worker-slots.ts';
import { DEFAULT_POOL } from '../../src/tenants/plans/names.ts';
import { quotaPeriod } from '../../src/tenants/plans/quota-period.ts';
import { endEarly } from '../../src/work/jobs/end-early.ts';
import type { Job } from '../../src/work/jobs/job.ts';
import { Worker } from '../../src/worker/worker.ts';
import { type Domain, newJob, openDomain, slotsInUse } from '../support/domain.ts';
import { eventually, HUNG_MS } from '../support/eventually.ts';
import { HeldRenderer } from '../support/held-renderer.ts';
import { startMongo } from '../support/mongo.ts';
import { sharedTemplateEngine } from '../support/template-engine.ts';
import { NO_SEALS } from '../support/worker.ts';

const period = quotaPeriod(new Date());

describe('Races over slots and claims', () => {
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

  it('never exceed the plan when two processes take and release slots a thousand times, and leave none taken', async () => {
    let held = 0;
    let most = 0;
    const use = async (domain: Domain, name: string) => {
      if (!(await domain.ledger.takeSlot('a', name, 4, undefined))) return;
      held += 1;
      most = Math.max(most, held);
      await new Promise(setImmediate);
      held -= 1;
      // Twice, as after a crash between two steps: the second call changes nothing.
      await Promise.all([first, second].map(({ ledger }) => ledger.undoSlot('a', name, undefined)));
    };
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => use(i % 2 ? first : second, `${round}-${i}`)));
    }
    assert.ok(most > 1 && most <= 4, `${most} held at a time`);
    assert.equal(await slotsInUse(first, 'a'), 0);
  });

  it('of ten claims of the same pointer one wins, a hundred times', async () => {
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

  it('a pointer that comes to two workers is one attempt, one PDF and one count of usage, a thousand times', async () => {
    const both = [first, second];
    const publish = both.map(({ bus }) => bus.publishPointer.bind(bus));
    const repeats: Promise<void>[] = [];
    for (const { bus } of both) {
      bus.publishPointer = async (pointer) => {
        const [once, again] = Math.random() < 0.5 ? publish : publish.toReversed();
        await once!(pointer);
        // At the same moment, or at any step of what the first worker does.
        const afterMs = Math.random() < 0.5 ? 0 : Math.random() * 20;
        repeats.push((afterMs === 0 ? Promise.resolve() : sleep(afterMs)).then(() => again!(pointer)));
      };
    }
    const seen: string[] = [];
    const workers = both.map((domain, i) => {
      const renderer = new HeldRenderer();
      renderer.holds = false;
      return new Worker({
        ...domain,
        outputs: createGridFsOutputStore(domain.connection),
        templates: sharedTemplateEngine(),
        seals: NO_SEALS,
        renderer,
        pool: DEFAULT_POOL,
        owner: `w${i}`,
        slots: new WorkerSlots(8),
        leaseMs: 60_000,
        random: Math.random,
        retryBaseMs: 1000,
        logger: pino({ level: 'silent' }),
        observe: {
          claimed: () => void seen.push(`claimed by ${i}`),
          rendered: () => void seen.push('rendered'),
          ended() {},
          retried: () => void seen.push('retried'),
          lost: () => void seen.push('lost'),
        },
      });
    });
    for (const worker of workers) await worker.start();
    const accounts = Array.from({ length: 10 }, (_, i) => `a-${i}`);
    const jobs = accounts.flatMap((a) =>
      Array.from({ length: 100 }, () => newJob(a, { quotaPeriod: period })),
    );
    for (let start = 0; start < jobs.length; start += 100)
      await (start % 200 ? first : second).admit(...jobs.slice(start, start + 100));
    await eventually('all have ended', () => first.ended.length + second.ended.length >= jobs.length);
    for (const worker of workers) await worker.stop(HUNG_MS);
    await Promise.all(repeats);
    await Promise.all([first.flush(), second.flush()]);

    const times = (what: string) => seen.filter((other) => other === what).length;
    const claims = [times('claimed by 0'), times('claimed by 1')] as const;
    assert.ok(claims[0] > 0 && claims[1] > 0, `${claims} claimed`);
    assert.equal(claims[0] + claims[1], jobs.length);
    assert.deepEqual(['rendered', 'retried', 'lost'].map(times), [jobs.length, 0, 0]);
    assert.deepEqual([...first.ended, ...second.ended], Array(jobs.length).fill('completed undefined'));
    const ended = await first.store.history.some(jobs.map(({ job }) => job._id));
    assert.equal(ended.length, jobs.length);
    for (const { attempts, failedAttempts } of ended)
      assert.deepEqual([attempts, failedAttempts], [1, undefined]);
    const outputs = await first.connection.collection<{ _id: string }>('outputs.files').find().toArray();
    assert.deepEqual(outputs.map(({ _id }) => _id).sort(), ended.map(({ output }) => output!.key).sort());
    const since = new Date(Math.floor(Date.now() / 3_600_000 - 24) * 3_600_000);
    for (const account of accounts) {
      assert.equal((await first.counters.usage(account, since)).totalRequests, 100);
      const { inFlight, waiting, holders, quota } = (await first.ledger.find(account))!;
      assert.deepEqual([inFlight, waiting, holders, quota?.[period]], [0, 0, {}, 100]);
    }
  });

  it('a cancel and a completion at the same moment: exactly one of them holds, a hundred times', async () => {
    let cancelledFirst = 0;
    for (let i = 0; i < 100; i += 1) {
      const { job, input } = newJob('a');
      await first.admit({ job, input });
      const { job: claimed } = (await first.store.transitions.claim(job, 'w', 15_000))!;
      const expiresAt = new Date(Date.now() + 1e6);
      const output = { key: outputKey(job._id, 2, expiresAt), size: 1, pages: 1, sha256: '' };
      const cancel = async () => (await second.store.transitions.cancel([claimed]))[0];
      const complete = () => first.store.transitions.complete(claimed, output, expiresAt);
      // Each of the two starts first half of the time.
      const both = i % 2 ? [cancel(), complete()] : [complete(), cancel()].reverse();
      const [cancelled, completed] = await Promise.all(both);
      assert.ok((cancelled === undefined) !== (completed === undefined));
      if (cancelled !== undefined) cancelledFirst += 1;
      await Promise.all([cancelled, completed].map((job) => job && first.followUp.follow([job])));
      assert.equal(await slotsInUse(first, 'a'), 0);
    }
    assert.ok(cancelledFirst > 0 && cancelledFirst < 100, `${cancelledFirst} cancelled`);
  });

  it('let exactly one of a concurrent renewal and expiry of a lease win, a thousand times', async () => {
    let renewedFirst = 0;
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const { job, input } = newJob(`a-${round}-${i}`);
          await first.admit({ job, input });
          // The lease has just ended when both of them start.
          const { job: claimed } = (await first.store.transitions.claim(job, 'w', 0))!;
          const renew = () => first.store.transitions.renew('w', [claimed], 60_000);
          const lostWorker = new PlatenError('WORKER_LOST');
          const expire = async () =>
            (await second.store.transitions.fail([claimed], lostWorker, { onlyIfLeaseEnded: true }))[0];
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

  it('jobs that are cancelled while they get slots leave nothing behind, a thousand times', async () => {
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
            await endEarly(domain, [seen as Job]);
          }
        }),
      );
    }
    await first.flush();
    await second.flush();
    const record = await first.ledger.find('a');
    assert.deepEqual([record?.inFlight, record?.waiting], [0, 0]);
    assert.deepEqual([record?.holders, record?.finalising, record?.ending], [{}, {}, {}]);
    assert.equal(first.ended.length + second.ended.length, 1000);
    // Jobs that ended at their positions are moved when the head reaches them, which it does with the next job.
    const last = newJob('a');
    await first.admit(last);
    await endEarly(first, [(await first.store.live.find(last.job._id)) as Job]);
    await first.flush();
    assert.equal(await first.connection.collection('jobs').countDocuments(), 0);
    assert.equal((await first.store.history.among(ids)).size, 1000);
  });

  it('waiting jobs that two processes cancel at about the same moment leave their positions once, a thousand times', async () => {
    for (let start = 0; start < 1000; start += 100) {
      const accountId = `a-${start}`;
      const jobs = Array.from({ length: 100 }, () => newJob(accountId, { quotaPeriod: period }));
      await first.admit(...jobs);
      const seen = await first.store.live.among(jobs.map(({ job }) => job._id));
      await Promise.all(
        [...seen.values()].map(async (job) => {
          const cancel = (domain: Domain) => endEarly(domain, [job]);
          // The second has seen it waiting, too, and comes at any step of what the first does.
          const both = [cancel(first), sleep(Math.random() * 40).then(() => cancel(second))];
          const ended = (await Promise.all(both)).flat();
          assert.ok(ended.length <= 1);
        }),
      );
      await first.flush();
      await second.flush();
      const record = (await first.ledger.find(accountId))!;
      const running = Object.keys(record.holders ?? {}).length;
      assert.deepEqual([record.inFlight, record.waiting, record.finalising], [running, 0, {}]);
      assert.equal(record.quota?.[period], running);
    }
  });

  it('run a thousand jobs that two processes submit and end, four at a time, and leave no slot taken', async () => {
    const ended = new Set<string>();
    const running = new Set<string>();
    let most = 0;
    const consume = (domain: Domain) =>
      domain.bus.consumePointers(DEFAULT_POOL, {
        worker: 'w',
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
            // Long enough for a fifth job to begin, if there were a slot for it.
            await new Promise((resolve) => setTimeout(resolve, 2));
            // The job runs until its end is recorded: only then may another job get its slot.
            running.delete(pointer.jobId);
            const done = await domain.store.transitions.complete(claimed.job, output, expiresAt);
            assert.ok(done && !ended.has(pointer.jobId));
            ended.add(pointer.jobId);
            await domain.followUp.follow([done]);
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
