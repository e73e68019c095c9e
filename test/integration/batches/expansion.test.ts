import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { pendingAdmission } from '../../../src/infra/overload/pending-admission.ts';
import { type Batch, chunkCount, itemJobId } from '../../../src/work/batches/batch.ts';
import { BatchAdmission, type BatchSubmission } from '../../../src/work/batches/batch-admission.ts';
import { EXPANDER_MS, expand } from '../../../src/work/batches/expansion.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { queueState } from '../../../src/work/jobs/ledger/ledger-record.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { WaitingJobs } from '../../../src/work/jobs/sweeps/waiting-jobs.ts';
import { useDomain } from '../../support/domain.ts';
import { batchOf, callerWith, dyingAt, Killed } from './support.ts';

const ITEMS = 180;
const CHUNKS = 4;
/** Longer than anybody between two steps takes. */
const LONG_MS = 20_000;

describe('admitting a batch, with a death at any step', () => {
  const domain = useDomain({ plan: { concurrentRenders: 3, monthlyRenders: 100_000 } });

  /** What the dispatcher does again and again. */
  async function sweep(): Promise<void> {
    const { ledger, batches } = domain;
    await repairInterruptedJobs(
      {
        ...domain,
        redeliveryMs: 1000,
        retryBaseMs: 1000,
        random: Math.random,
        onRetried: () => {},
        keepsArrivalOf: (batchId, items) => batches.admission.forgetUnless(batchId, items),
      },
      await ledger.active(),
    );
    await batches.reconciler.sweep();
    await new WaitingJobs(domain).serve(await ledger.active());
  }

  const deps = () => ({ ...domain, batches: domain.batches.store });
  const admit = (
    submission: BatchSubmission,
    caller = callerWith(domain.plan),
    admission = domain.batches.admission,
  ) => admission.admit(caller, submission, pendingAdmission());

  /** Each item has exactly one job, at its own position, and the account's ledger knows of no other. */
  async function assertWhole(batch: Batch): Promise<void> {
    const { live } = domain.store;
    const ids = batchOf(batch.total).items.map(({ id }, i) => itemJobId(batch, i, id));
    const jobs = await live.among(ids);
    assert.equal(jobs.size, batch.total);
    const record = (await domain.ledger.find(batch.accountId))!;
    assert.deepEqual(record.pending ?? {}, {});
    const held = Object.keys(record.holders ?? {});
    assert.equal(held.length, 3);
    assert.equal(record.waiting, batch.total - 3);
    const { head, tail } = queueState(record, 'bulk');
    assert.equal(tail - head, record.waiting);
    const placed = [...jobs.values()].filter(({ position }) => position !== undefined);
    assert.equal(placed.length, record.waiting);
    assert.equal(Object.values(record.quota ?? {})[0], batch.total);
    const { phase, busy } = (await domain.batches.store.find(batch._id))!;
    assert.deepEqual([phase, busy], ['open', undefined]);
  }

  /** Renders a dispatched job, as a worker does. */
  async function complete(job: Job): Promise<void> {
    const { transitions } = domain.store;
    const claimed = await transitions.claim(job, 'worker', 15_000);
    const expiresAt = new Date(domain.clock.now().getTime() + 3_600_000);
    const output = { key: outputKey(job._id, 1, expiresAt), size: 1, pages: 1, sha256: '' };
    await domain.followUp.follow([(await transitions.complete(claimed!.job, output, expiresAt))!]);
  }

  for (const when of ['before', 'after'] as const) {
    for (const method of ['saveChunks', 'accept'] as const) {
      it(`gives everything back when the API dies ${when} ${method}, unless the batch is durable`, async () => {
        const { batches, clock, ledger, connection } = domain;
        const store = dyingAt(batches.store, method, 1, when);
        const admission = new BatchAdmission({ ...domain, batches: store });
        const caller = callerWith(domain.plan);
        const submission = batchOf(ITEMS);
        await assert.rejects(admit(submission, caller, admission), Killed);
        clock.pass(LONG_MS);
        await sweep();
        await sweep();
        if (method === 'accept' && when === 'after') {
          await assertWhole((await batches.store.find(submission.batchId))!);
          return;
        }
        const record = await ledger.find(caller.accountId);
        assert.deepEqual(record?.pending ?? {}, {});
        assert.equal(record?.waiting, 0);
        assert.equal(Object.values(record?.quota ?? {})[0], 0);
        for (const name of ['job_inputs', 'job_input_chunks', 'batch_chunks']) {
          const left = await connection.collection<{ _id: string }>(name).countDocuments({
            $or: [{ accountId: caller.accountId }, { _id: new RegExp(`^${submission.batchId}/`) }],
          });
          assert.equal(left, 0, name);
        }
      });
    }

    for (let chunk = 1; chunk <= CHUNKS; chunk += 1) {
      it(`goes on where the process died ${when} it noted chunk ${chunk}`, async () => {
        const { batches, clock } = domain;
        const batch = await admit(batchOf(ITEMS));
        assert.equal(chunkCount(batch), CHUNKS);
        const dying = { ...deps(), batches: dyingAt(batches.store, 'expanded', chunk, when) };
        await assert.rejects(expand(dying, batch), Killed);
        await sweep();
        assert.notEqual(
          (await batches.store.find(batch._id))?.phase,
          chunk === CHUNKS ? 'completed' : 'open',
        );
        clock.pass(LONG_MS);
        await sweep();
        await sweep();
        await assertWhole(batch);
      });
    }
  }

  it('writes no item again that has ended before its process could note that it was written', async () => {
    const { batches, clock, ledger, store } = domain;
    const batch = await admit(batchOf(ITEMS));
    const dying = { ...deps(), batches: dyingAt(batches.store, 'expanded', 1, 'before') };
    await assert.rejects(expand(dying, batch), Killed);
    await sweep();
    const ids = batchOf(ITEMS).items.map(({ id }, i) => itemJobId(batch, i, id));
    const written = [...(await store.live.among(ids)).values()];
    const dispatched = written.filter(({ state }) => state === 'dispatched');
    assert.equal(dispatched.length, 3);
    for (const job of dispatched) await complete(job);
    await domain.flush();
    const moved = await store.history.among(ids);
    assert.equal(moved.size, 3);
    clock.pass(LONG_MS);
    await sweep();
    await sweep();
    const live = await store.live.among(ids);
    const twice = ids.filter((id) => live.has(id) && moved.has(id));
    assert.deepEqual(twice, []);
    assert.equal(live.size, ITEMS - 3);
    const record = (await ledger.find(batch.accountId))!;
    assert.equal(record.waiting, ITEMS - 6);
    const items = await batches.service.items(batch, { offset: 0, limit: ITEMS });
    assert.equal(items.filter(({ status }) => status === 'completed').length, 3);
  });

  it('confirms the arrival of a batch whose process died right before that', async () => {
    const batch = await admit(batchOf(ITEMS));
    const dying = { ...deps(), ledger: dyingAt(domain.ledger, 'confirmPositions', 1, 'before') };
    await assert.rejects(expand(dying, batch), Killed);
    domain.clock.pass(LONG_MS);
    await sweep();
    await sweep();
    await assertWhole(batch);
  });

  it('has a batch fail whose positions are gone before its jobs are written', async () => {
    const { batches, ledger, clock } = domain;
    const batch = await admit(batchOf(ITEMS));
    await ledger.undoPositions(batch.accountId, batch._id, ITEMS, batch.quotaPeriod ?? undefined);
    clock.pass(LONG_MS);
    await sweep();
    const failed = await batches.store.find(batch._id);
    assert.equal(failed?.phase, 'failed');
    assert.equal((await domain.store.live.among([itemJobId(batch, 0, 'item-0')])).size, 0);
    const items = await batches.service.items(failed!, { offset: 0, limit: 2 });
    assert.deepEqual(
      items.map(({ status }) => status),
      ['failed', 'failed'],
    );
  });

  it('writes every job once, however many processes expand a batch at the same time', async () => {
    for (let round = 0; round < 30; round += 1) {
      const batch = await admit(batchOf(ITEMS));
      const others = Array.from({ length: 3 }, async () => {
        const seen = (await domain.batches.store.find(batch._id))!;
        const taken = await domain.batches.store.take(seen, EXPANDER_MS);
        return taken && expand(deps(), taken);
      });
      await Promise.all([expand(deps(), batch), ...others]);
      domain.clock.pass(LONG_MS);
      await sweep();
      await sweep();
      await assertWhole(batch);
    }
  });

  it('cancels a batch that is still being expanded', async () => {
    const { batches, ledger, clock } = domain;
    const caller = callerWith(domain.plan);
    const batch = await admit(batchOf(ITEMS), caller);
    const dying = { ...deps(), batches: dyingAt(batches.store, 'expanded', 2, 'after') };
    await assert.rejects(expand(dying, batch), Killed);
    await batches.service.cancel(caller, batch._id);
    await domain.flush();
    clock.pass(LONG_MS);
    for (let i = 0; i < 4; i += 1) {
      await sweep();
      await domain.flush();
    }
    const ended = (await batches.store.find(batch._id))!;
    assert.equal(ended.phase, 'cancelled');
    const record = await ledger.find(caller.accountId);
    assert.equal(record?.waiting, 0);
    assert.equal(record?.inFlight, 0);
    assert.equal(Object.values(record?.quota ?? {})[0], 0);
  });

  it('takes no batch for lost that another process has expanded to the end meanwhile', async () => {
    const { batches } = domain;
    const batch = await admit(batchOf(ITEMS));
    const dying = { ...deps(), batches: dyingAt(batches.store, 'expanded', CHUNKS - 1, 'after') };
    await assert.rejects(expand(dying, batch), Killed);
    const seen = (await batches.store.find(batch._id))!;
    assert.ok(await expand(deps(), seen));
    assert.equal((await expand(deps(), seen))?.phase, 'open');
    assert.equal((await batches.store.find(batch._id))?.phase, 'open');
    await assertWhole(batch);
  });

  it('cancels a batch at any moment of its expansion', async () => {
    const { batches, ledger } = domain;
    for (let run = 0; run < 25; run += 1) {
      const caller = callerWith(domain.plan);
      const batch = await admit(batchOf(ITEMS), caller);
      batches.reconciler.begin(batch);
      await sleep(Math.random() * 150);
      await batches.service.cancel(caller, batch._id);
      await domain.flush();
      if ((await batches.store.find(batch._id))?.phase !== 'cancelled') {
        // Whoever was too slow over a chunk has left it to the sweep.
        domain.clock.pass(LONG_MS);
        await sweep();
        await domain.flush();
      }
      // Those that hold a slot have not begun, either: nobody renders here.
      const ended = (await batches.store.find(batch._id))!;
      assert.equal(ended.phase, 'cancelled', `in run ${run}`);
      const record = await ledger.find(caller.accountId);
      assert.deepEqual([record?.waiting, record?.inFlight], [0, 0], `in run ${run}`);
    }
  });
});
