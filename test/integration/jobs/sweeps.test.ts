import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { positionOf } from '../../../src/work/jobs/priority-queues.ts';
import { storedInput } from '../../../src/work/jobs/store/stored-input.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { newJob, slotsInUse } from '../../support/domain.ts';
import { SweptDomain } from '../../support/swept-domain.ts';

const period = quotaPeriod(new Date());

describe('sweeps', () => {
  let swept: SweptDomain;
  beforeEach(async () => {
    swept = await SweptDomain.open();
  });
  afterEach(() => swept.close());

  it('publish the pointer again of a job that no worker claimed, and not of one that was', async () => {
    const id = await swept.submit();
    swept.domain.clock.pass(1000);
    assert.equal(await swept.repair(), 0);
    swept.domain.clock.pass(5000);
    assert.equal(await swept.repair(), 1);
    assert.equal(await swept.repair(), 0, 'the messages are spaced');
    await new Promise(setImmediate);
    assert.deepEqual(
      swept.pointers.map(({ jobId, version }) => [jobId, version]),
      [
        [id, 1],
        [id, 1],
      ],
    );
    assert.ok(await swept.claim(id, 'w', 120_000));
    swept.domain.clock.pass(60_000);
    assert.equal(await swept.repair(), 0);
  });

  it('send a job that no worker claimed to the pool that its plan names by then', async () => {
    const id = await swept.submit({ pool: 'gone' });
    swept.domain.clock.pass(6000);
    assert.equal(await swept.repair(), 1);
    await new Promise(setImmediate);
    assert.deepEqual(
      swept.pointers.map(({ jobId, pool }) => [jobId, pool]),
      [[id, DEFAULT_POOL]],
    );
    assert.equal((await swept.job(id)).pool, DEFAULT_POOL);
    assert.ok(await swept.claim(id, 'w'));
  });

  it('take a job from a lost worker, three times in all, then fail it', async () => {
    const id = await swept.submit();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const claimed = await swept.claim(id, `w${attempt}`);
      assert.equal(claimed.attempts, attempt);
      assert.equal(await swept.repair(), 0, 'the lease still runs');
      swept.domain.clock.pass(15_001);
      assert.equal(await swept.repair(), 1);
      assert.equal(await slotsInUse(swept.domain, 'a'), 0);
      assert.equal(
        await swept.domain.store.transitions.retryLater(claimed, new PlatenError('INTERNAL'), 0),
        undefined,
      );
      if (attempt === 3) break;
      assert.equal((await swept.job(id)).state, 'queued');
      assert.equal(await swept.domain.retries.returnDue(), 0, 'the back-off has not passed');
      assert.equal((await swept.job(id)).state, 'queued');
      swept.domain.clock.pass(4001);
      assert.equal(await swept.domain.retries.returnDue(), 1);
      assert.equal((await swept.job(id)).state, 'dispatched');
    }
    await swept.domain.flush();
    const failed = (await swept.domain.store.history.find(id)) as Job;
    assert.equal(failed.state, 'failed');
    assert.equal(failed.error?.code, 'WORKER_LOST');
    assert.ok(await swept.domain.store.inputs.load(id), 'the input of a failed job stays');
    assert.deepEqual(swept.retried, ['WORKER_LOST', 'WORKER_LOST']);
    assert.deepEqual(swept.domain.ended, ['failed WORKER_LOST']);
    await swept.serve();
    assert.equal((await swept.domain.ledger.find('a'))?.waiting, 0);
  });

  it('do not take a job whose lease was renewed since they read it', async () => {
    const id = await swept.submit();
    const claimed = await swept.claim(id, 'w');
    swept.domain.clock.pass(15_001);
    const seen = await swept.job(id);
    await swept.domain.store.transitions.renew('w', [claimed], 15_000);
    const lost = new PlatenError('WORKER_LOST');
    assert.equal(await swept.domain.retries.retryLater(seen, lost, 0, true), false);
    const failed = await swept.domain.store.transitions.fail([seen], lost, { onlyIfLeaseEnded: true });
    assert.deepEqual(failed, []);
    assert.equal((await swept.job(id)).state, 'processing');
    assert.equal(await swept.repair(), 0);
  });

  it('give back the slot and quota of a process that died before it had written its job, and serve the jobs that wait', async () => {
    const unwritten = newJob('a', { quotaPeriod: period });
    assert.ok(
      await swept.domain.ledger.takeSlot('a', unwritten.job._id, 1, {
        period,
        limit: swept.domain.plan.monthlyRenders,
      }),
    );
    await swept.domain.store.inputs.save([storedInput(unwritten.input)]);
    const id = await swept.submit();
    assert.equal((await swept.job(id)).state, 'queued');
    assert.equal(await swept.repair(), 0, 'it may still be on its way');
    swept.domain.clock.pass(10_001);
    assert.equal(await swept.repair(), 1);
    assert.equal((await swept.job(id)).state, 'dispatched');
    assert.equal(await swept.domain.ledger.quotaUsed('a', period), 0);
    assert.equal(await swept.domain.store.inputs.load(unwritten.job._id), undefined);
    assert.ok(await swept.domain.store.inputs.load(id), 'that of a job that was written stays');
    await swept.claim(id, 'w', 600_000);
    swept.domain.clock.pass(60_000);
    assert.equal(await swept.repair(), 0, 'a slot in use is left alone');
    assert.equal(await slotsInUse(swept.domain, 'a'), 1);
  });

  it('give back the positions and quota of jobs that were never written, and pass over these', async () => {
    const running = await swept.submit();
    const [written, unwritten] = [newJob('a', { quotaPeriod: period }), newJob('a', { quotaPeriod: period })];
    const jobs = [unwritten.job._id, written.job._id];
    const admission = { id: jobs[0]!, jobs, queue: 'bulk' as const };
    const first = await swept.domain.ledger.takePositions('a', admission, {
      maxWaiting: 10,
      quota: { period, limit: 10 },
    });
    assert.equal(first, 0);
    await swept.domain.store.inputs.save([storedInput(written.input), storedInput(unwritten.input)]);
    await swept.domain.store.transitions.accept([{ ...written.job, position: positionOf('a', 'bulk', 1) }]);
    await swept.claim(running, 'w', 600_000);
    await swept.serve();
    assert.equal(await swept.repair(), 0, 'the rest may still be on its way');
    swept.domain.clock.pass(10_001);
    assert.equal(await swept.repair(), 1);
    const record = await swept.domain.ledger.find('a');
    assert.equal(record?.waiting, 1);
    assert.equal(record?.quota?.[period], 1);
    assert.equal(await swept.inputs(), 2, 'of the job that runs, and of the one that was written');
    assert.equal(await swept.serve(), 1, 'the position without a job');
    await endEarly(swept.domain, [await swept.job(running)]);
    assert.equal((await swept.job(written.job._id)).state, 'dispatched');
  });

  it('pass over positions at which no job will be written, though others are admitted all the while', async () => {
    await swept.claim(await swept.submit(), 'w', 1e9);
    const arrive = (id: string) =>
      swept.domain.ledger.takePositions(
        'a',
        { id, jobs: [id], queue: 'bulk' },
        { maxWaiting: 10, quota: undefined },
      );
    assert.equal(await arrive('dead'), 0);
    const waiting = await swept.submit();
    assert.equal(await arrive('first'), 2);
    assert.equal(await swept.serve(), 0, 'somebody may be coming');
    await swept.domain.ledger.undoPositions('a', 'dead', 1, undefined);
    assert.equal(await arrive('second'), 3);
    await swept.domain.ledger.confirmPositions('a', 'first');
    assert.equal(await swept.serve(), 1, 'nobody who was on the way then is on the way now');
    const [running] = Object.keys((await swept.domain.ledger.find('a'))?.holders ?? {});
    await endEarly(swept.domain, [await swept.job(running!)]);
    assert.equal((await swept.job(waiting)).state, 'dispatched');
  });

  it('withdraw what was written after its process was taken for dead', async () => {
    const running = await swept.submit();
    const late = newJob('a', { quotaPeriod: period });
    const inputs = swept.domain.store.inputs;
    const save = inputs.save.bind(inputs);
    inputs.save = async (stored) => {
      await save(stored);
      swept.domain.clock.pass(10_001);
      assert.equal(await swept.repair(), 2, 'its arrival, and the pointer of the other');
    };
    await assert.rejects(swept.domain.admit(late), { code: 'UNAVAILABLE', status: 503 });
    inputs.save = save;
    assert.equal(await swept.domain.store.live.find(late.job._id), undefined);
    assert.equal(await swept.domain.ledger.quotaUsed('a', period), 0);
    assert.equal((await swept.domain.ledger.find('a'))?.waiting, 0);
    await swept.domain.admit(late);
    await endEarly(swept.domain, [await swept.job(running)]);
    assert.equal((await swept.job(late.job._id)).state, 'dispatched');
  });

  it('leave alone what another try of the same request has taken since they read it', async () => {
    await swept.claim(await swept.submit(), 'w', 1e9);
    const again = newJob('a', { quotaPeriod: period });
    const id = again.job._id;
    const limits = { maxWaiting: 10, quota: { period, limit: 10 } };
    assert.equal(await swept.domain.ledger.takePositions('a', { id, jobs: [id], queue: 'bulk' }, limits), 0);
    swept.domain.clock.pass(10_001);
    // The first try has died. The sweep reads the ledgers and the jobs; the second try begins; the sweep goes on.
    const { inputs, live } = swept.domain.store;
    const among = live.among.bind(live);
    const save = inputs.save.bind(inputs);
    let sweepIsOver: (() => void) | undefined;
    let second: Promise<void> | undefined;
    inputs.save = async (stored) => {
      await save(stored);
      await new Promise<void>((resolve) => {
        sweepIsOver = resolve;
      });
    };
    live.among = async (ids) => {
      const seen = await among(ids);
      await swept.domain.admission.abandon('a', id);
      second = swept.domain.admit(again);
      while (sweepIsOver === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      return seen;
    };
    await swept.repair();
    live.among = among;
    sweepIsOver?.();
    await second;
    inputs.save = save;
    assert.equal((await swept.job(id)).state, 'queued');
    const record = await swept.domain.ledger.find('a');
    assert.equal(record?.waiting, 1);
    assert.equal(record?.quota?.[period], 1);
    assert.deepEqual(record?.pending, {});
  });

  it('serve a job that a crash left waiting although a slot is free', async () => {
    const { job: lone, input } = newJob('a');
    const admission = { id: lone._id, jobs: [lone._id], queue: 'bulk' as const };
    await swept.domain.ledger.takePositions('a', admission, { maxWaiting: 10, quota: undefined });
    await swept.domain.store.inputs.save([storedInput(input)]);
    await swept.domain.store.transitions.accept([{ ...lone, position: positionOf('a', 'bulk', 0) }]);
    await swept.domain.ledger.confirmPositions('a', lone._id);
    await swept.serve();
    assert.equal((await swept.job(lone._id)).state, 'dispatched');
  });

  it('dispatch a job that was given its slot by a process that died before it could note that', async () => {
    const running = await swept.submit();
    const id = await swept.submit();
    await endEarlyWithoutServing(running);
    const waiting = await swept.job(id);
    assert.ok(await swept.domain.ledger.takeNext('a', 'bulk', waiting, { head: 0, cap: 1 }));
    assert.equal(await swept.repair(), 0, 'it may be on its way');
    swept.domain.clock.pass(10_001);
    assert.equal(await swept.repair(), 2, 'and the end of the first is followed up');
    assert.equal((await swept.job(id)).state, 'dispatched');
    assert.equal(await slotsInUse(swept.domain, 'a'), 1);
  });

  it('dispatch a job that got the slot of one that ended, by a process that died right after that update', async () => {
    const running = await swept.submit();
    const id = await swept.submit({ quotaPeriod: period });
    const ended = await cancel(running);
    const freed = await swept.domain.dispatch.free([ended]);
    assert.deepEqual(
      freed?.granted.map(({ job }) => job._id),
      [id],
    );
    assert.equal((await swept.job(id)).state, 'queued');
    swept.domain.clock.pass(5001);
    assert.equal(await swept.repair(), 1, 'the end is followed up, the other may be on its way');
    swept.domain.clock.pass(5000);
    assert.equal(await swept.repair(), 1);
    assert.equal((await swept.job(id)).state, 'dispatched');
    assert.equal(await slotsInUse(swept.domain, 'a'), 1);
    assert.equal((await swept.domain.ledger.find('a'))?.waiting, 0);
    assert.equal((await swept.usage()).totalRequests, 1);
  });

  it('take the slot back from a job that ended as it got it, by a process that died right after that update', async () => {
    const running = await swept.submit();
    const id = await swept.submit({ quotaPeriod: period });
    const third = await swept.submit();
    const ended = await cancel(running);
    await swept.domain.ledger.announceEnds('a', id);
    const cancelled = await cancel(id);
    await swept.domain.dispatch.free([ended]);
    assert.ok((await swept.domain.ledger.find('a'))?.holders?.[id]);
    await swept.domain.followUp.follow([cancelled]);
    swept.domain.clock.pass(5001);
    await swept.repair();
    await swept.domain.flush();
    assert.equal((await swept.job(third)).state, 'dispatched');
    assert.equal(await slotsInUse(swept.domain, 'a'), 1);
    const record = await swept.domain.ledger.find('a');
    assert.equal(record?.waiting, 0);
    assert.equal(record?.quota?.[period], 0);
    assert.equal((await swept.domain.store.history.find(id))?.state, 'cancelled');
  });

  it('free the slot of a job whose worker died between the end of its attempt and the release', async () => {
    const id = await swept.submit();
    const claimed = await swept.claim(id, 'w');
    await swept.domain.store.retries.schedule(id, swept.domain.clock.now(), { $set: { accountId: 'a' } });
    assert.ok(await swept.domain.store.transitions.retryLater(claimed, new PlatenError('RENDER_FAILED'), 0));
    assert.equal(await swept.repair(), 0);
    swept.domain.clock.pass(10_001);
    assert.equal(await swept.repair(), 1);
    assert.equal(await slotsInUse(swept.domain, 'a'), 0);
    assert.equal(await swept.domain.retries.returnDue(), 1);
    assert.equal((await swept.job(id)).state, 'dispatched');
  });

  it('leave alone the slot that a job has got anew since they read it', async () => {
    const id = await swept.submit();
    const claimed = await swept.claim(id, 'w');
    swept.domain.clock.pass(10_001);
    // The sweep reads the ledgers; its attempt ends; the sweep reads the jobs; the job comes back and has a slot again.
    const ledgers = await swept.domain.ledger.active();
    const { among } = swept.domain.store.live;
    swept.domain.store.live.among = async (ids) => {
      await swept.domain.store.retries.schedule(id, swept.domain.clock.now(), { $set: { accountId: 'a' } });
      const queued = await swept.domain.store.transitions.retryLater(
        claimed,
        new PlatenError('RENDER_FAILED'),
        0,
      );
      const seen = await among.call(swept.domain.store.live, ids);
      await swept.domain.retries.releaseSlot(queued as Job);
      swept.domain.clock.pass(1);
      await swept.domain.retries.returnDue();
      return seen;
    };
    await repairInterruptedJobs(
      { ...swept.domain, redeliveryMs: 1e9, retryBaseMs: 1000, random: () => 1, onRetried: () => {} },
      ledgers,
    );
    swept.domain.store.live.among = among;
    assert.equal((await swept.job(id)).state, 'dispatched');
    assert.equal(await slotsInUse(swept.domain, 'a'), 1);
    assert.equal((await swept.domain.ledger.find('a'))?.waiting, 0);
  });

  /** Ends a dispatched job and frees its slot, and dies before it is handed on. */
  const endEarlyWithoutServing = async (id: string) => {
    await swept.domain.ledger.leave([await cancel(id)]);
  };

  const cancel = async (id: string) =>
    (await swept.domain.store.transitions.cancel([await swept.job(id)]))[0]!;
});
