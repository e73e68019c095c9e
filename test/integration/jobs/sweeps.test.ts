import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobPointer, Subscription } from '../../../src/bus/bus.ts';
import { PlatenError } from '../../../src/errors/registry.ts';
import { endEarly } from '../../../src/jobs/end-early.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { placeOf } from '../../../src/jobs/lanes.ts';
import { storedInput } from '../../../src/jobs/store/stored-input.ts';
import { repairNamedJobs } from '../../../src/jobs/sweeps/named-jobs.ts';
import { endRetention } from '../../../src/jobs/sweeps/retention.ts';
import { WaitingJobs } from '../../../src/jobs/sweeps/waiting-jobs.ts';
import { DEFAULT_POOL } from '../../../src/plans/names.ts';
import { createFolderOutputStore } from '../../../src/store/outputs/folder.ts';
import { outputKey } from '../../../src/store/outputs/output-store.ts';
import { quotaPeriod } from '../../../src/usage/quota-period.ts';
import { type Domain, newJob, openDomain, slotsInUse } from '../../support/domain.ts';

const HOUR_MS = 3_600_000;
const period = quotaPeriod(new Date());

describe('sweeps', () => {
  let domain: Domain;
  let waitingJobs: WaitingJobs;
  const pointers: JobPointer[] = [];
  const retried: string[] = [];
  let subscription: Subscription;
  beforeEach(async () => {
    domain = await openDomain({ plan: { concurrentRenders: 1 } });
    waitingJobs = new WaitingJobs(domain);
    pointers.length = 0;
    retried.length = 0;
    subscription = await domain.bus.consumePointers(DEFAULT_POOL, {
      reserve: async () => ({ release: () => {} }),
      accept: async (pointer) => {
        pointers.push(pointer);
      },
    });
  });
  afterEach(async () => {
    await subscription.stop();
    await domain.close();
  });

  /** One run over every job that a ledger names. */
  const repair = async () =>
    repairNamedJobs(
      {
        ...domain,
        redeliveryMs: 5000,
        retryBaseMs: 1000,
        random: () => 1,
        onRetried: (code) => retried.push(code),
      },
      await domain.ledger.active(),
    );
  const serve = async () => waitingJobs.serve(await domain.ledger.active());
  const expire = async () => waitingJobs.expire(await domain.ledger.active());
  const submit = async (over: Partial<Job> = {}) => {
    const job = newJob('a', over);
    await domain.admit(job);
    return job.job._id;
  };
  const job = async (id: string) => (await domain.store.live.find(id)) as Job;
  const claim = async (id: string, owner: string, leaseMs = 15_000) =>
    (await domain.store.transitions.claim(await job(id), owner, leaseMs)) as Job;
  const usage = async () => (await domain.usage.summary(reader, '1d', false)) as { totalRequests: number };
  const reader = {
    accountId: 'a',
    planName: 'professional',
    get plan() {
      return domain.plan;
    },
  };
  const inputs = () => domain.connection.collection('job_inputs').countDocuments();

  it('publish the pointer again of a job that nobody claimed, and not of one that was', async () => {
    const id = await submit();
    domain.clock.pass(4000);
    assert.equal(await repair(), 0);
    domain.clock.pass(2000);
    assert.equal(await repair(), 1);
    assert.equal(await repair(), 0, 'the messages are spaced');
    await new Promise(setImmediate);
    assert.deepEqual(
      pointers.map(({ jobId, version }) => [jobId, version]),
      [
        [id, 1],
        [id, 1],
      ],
    );
    assert.ok(await claim(id, 'w', 120_000));
    domain.clock.pass(60_000);
    assert.equal(await repair(), 0);
  });

  it('send a job that nobody claimed to the pool that its plan names by then', async () => {
    const id = await submit({ pool: 'gone' });
    domain.clock.pass(6000);
    assert.equal(await repair(), 1);
    await new Promise(setImmediate);
    assert.deepEqual(
      pointers.map(({ jobId, pool }) => [jobId, pool]),
      [[id, DEFAULT_POOL]],
    );
    assert.equal((await job(id)).pool, DEFAULT_POOL);
    assert.ok(await claim(id, 'w'));
  });

  it('take a job from a lost worker, three times in all, then fail it', async () => {
    const id = await submit();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const claimed = await claim(id, `w${attempt}`);
      assert.equal(claimed.attempts, attempt);
      assert.equal(await repair(), 0, 'the lease still runs');
      domain.clock.pass(15_001);
      assert.equal(await repair(), 1);
      assert.equal(await slotsInUse(domain, 'a'), 0);
      assert.equal(
        await domain.store.transitions.retryLater(claimed, new PlatenError('INTERNAL'), 0),
        undefined,
      );
      if (attempt === 3) break;
      assert.equal((await job(id)).state, 'queued');
      assert.equal(await domain.retries.returnDue(), 0, 'the back-off has not passed');
      assert.equal((await job(id)).state, 'queued');
      domain.clock.pass(4001);
      assert.equal(await domain.retries.returnDue(), 1);
      assert.equal((await job(id)).state, 'dispatched');
    }
    await domain.flush();
    const failed = (await domain.store.history.find(id)) as Job;
    assert.equal(failed.state, 'failed');
    assert.equal(failed.error?.code, 'WORKER_LOST');
    assert.ok(await domain.store.inputs.load(id), 'the input of a failed job stays');
    assert.deepEqual(retried, ['WORKER_LOST', 'WORKER_LOST']);
    assert.deepEqual(domain.ended, ['failed WORKER_LOST']);
    await serve();
    assert.equal((await domain.ledger.find('a'))?.waiting, 0);
  });

  it('do not take a job whose lease was renewed since they looked', async () => {
    const id = await submit();
    const claimed = await claim(id, 'w');
    domain.clock.pass(15_001);
    const seen = await job(id);
    await domain.store.transitions.renew('w', [claimed], 15_000);
    const lost = new PlatenError('WORKER_LOST');
    assert.equal(await domain.retries.retryLater(seen, lost, 0, true), false);
    assert.equal(await domain.store.transitions.fail(seen, lost, true), undefined);
    assert.equal((await job(id)).state, 'processing');
    assert.equal(await repair(), 0);
  });

  it('give back the slot and quota of a process that died before it had written its job, and serve who waits', async () => {
    const unwritten = newJob('a', { quotaPeriod: period });
    assert.ok(
      await domain.ledger.takeSlot('a', unwritten.job._id, 1, { period, limit: domain.plan.monthlyRenders }),
    );
    await domain.store.inputs.save([storedInput(unwritten.input)]);
    const id = await submit();
    assert.equal((await job(id)).state, 'queued');
    assert.equal(await repair(), 0, 'it may still be on its way');
    domain.clock.pass(10_001);
    assert.equal(await repair(), 1);
    assert.equal((await job(id)).state, 'dispatched');
    assert.equal(await domain.ledger.quotaUsed('a', period), 0);
    assert.equal(await domain.store.inputs.load(unwritten.job._id), undefined);
    assert.ok(await domain.store.inputs.load(id), 'that of a job that was written stays');
    await claim(id, 'w', 600_000);
    domain.clock.pass(60_000);
    assert.equal(await repair(), 0, 'a slot in use is left alone');
    assert.equal(await slotsInUse(domain, 'a'), 1);
  });

  it('give back the places and quota of jobs that were never written, and pass over those places', async () => {
    const running = await submit();
    const [written, unwritten] = [newJob('a', { quotaPeriod: period }), newJob('a', { quotaPeriod: period })];
    const jobs = [unwritten.job._id, written.job._id];
    const arrival = { id: jobs[0]!, jobs, lane: 'bulk' as const };
    const first = await domain.ledger.takePlaces('a', arrival, {
      maxWaiting: 10,
      quota: { period, limit: 10 },
    });
    assert.equal(first, 0);
    await domain.store.inputs.save([storedInput(written.input), storedInput(unwritten.input)]);
    await domain.store.transitions.accept({ ...written.job, place: placeOf('a', 'bulk', 1) });
    await claim(running, 'w', 600_000);
    await serve();
    assert.equal(await repair(), 0, 'the rest may still be on its way');
    domain.clock.pass(10_001);
    assert.equal(await repair(), 1);
    const record = await domain.ledger.find('a');
    assert.equal(record?.waiting, 1);
    assert.equal(record?.quota?.[period], 1);
    assert.equal(await inputs(), 2, 'of the job that runs, and of the one that was written');
    assert.equal(await serve(), 1, 'the place that nobody is coming to');
    await endEarly(domain, await job(running), (seen) => domain.store.transitions.cancel(seen));
    assert.equal((await job(written.job._id)).state, 'dispatched');
  });

  it('pass over places that nobody is coming to, though others arrive all the while', async () => {
    await claim(await submit(), 'w', 1e9);
    const arrive = (id: string) =>
      domain.ledger.takePlaces('a', { id, jobs: [id], lane: 'bulk' }, { maxWaiting: 10, quota: undefined });
    assert.equal(await arrive('dead'), 0);
    const waiting = await submit();
    assert.equal(await arrive('first'), 2);
    assert.equal(await serve(), 0, 'somebody may be coming');
    await domain.ledger.undoArrival('a', 'dead', 1, undefined);
    assert.equal(await arrive('second'), 3);
    await domain.ledger.confirmArrival('a', 'first');
    assert.equal(await serve(), 1, 'nobody who was on the way then is on the way now');
    const [running] = Object.keys((await domain.ledger.find('a'))?.holders ?? {});
    await endEarly(domain, await job(running!), (seen) => domain.store.transitions.cancel(seen));
    assert.equal((await job(waiting)).state, 'dispatched');
  });

  it('withdraw what was written after its process was taken for dead', async () => {
    const running = await submit();
    const late = newJob('a', { quotaPeriod: period });
    const inputs = domain.store.inputs;
    const save = inputs.save.bind(inputs);
    inputs.save = async (stored) => {
      await save(stored);
      domain.clock.pass(10_001);
      assert.equal(await repair(), 2, 'its arrival, and the pointer of the other');
    };
    await assert.rejects(domain.admit(late), { code: 'UNAVAILABLE', status: 503 });
    inputs.save = save;
    assert.equal(await domain.store.live.find(late.job._id), undefined);
    assert.equal(await domain.ledger.quotaUsed('a', period), 0);
    assert.equal((await domain.ledger.find('a'))?.waiting, 0);
    await domain.admit(late);
    await endEarly(domain, await job(running), (seen) => domain.store.transitions.cancel(seen));
    assert.equal((await job(late.job._id)).state, 'dispatched');
  });

  it('leave alone what another try of the same request has taken since they looked', async () => {
    await claim(await submit(), 'w', 1e9);
    const again = newJob('a', { quotaPeriod: period });
    const id = again.job._id;
    const limits = { maxWaiting: 10, quota: { period, limit: 10 } };
    assert.equal(await domain.ledger.takePlaces('a', { id, jobs: [id], lane: 'bulk' }, limits), 0);
    domain.clock.pass(10_001);
    // The first try has died. The sweep reads the ledgers and the jobs; the second try begins; the sweep goes on.
    const { inputs, live } = domain.store;
    const among = live.among.bind(live);
    const save = inputs.save.bind(inputs);
    let swept: (() => void) | undefined;
    let second: Promise<void> | undefined;
    inputs.save = async (stored) => {
      await save(stored);
      await new Promise<void>((resolve) => {
        swept = resolve;
      });
    };
    live.among = async (ids) => {
      const seen = await among(ids);
      await domain.admission.abandon('a', id);
      second = domain.admit(again);
      while (swept === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      return seen;
    };
    await repair();
    live.among = among;
    swept?.();
    await second;
    inputs.save = save;
    assert.equal((await job(id)).state, 'queued');
    const record = await domain.ledger.find('a');
    assert.equal(record?.waiting, 1);
    assert.equal(record?.quota?.[period], 1);
    assert.deepEqual(record?.arriving, {});
  });

  it('serve a job that a crash left waiting beside a free slot', async () => {
    const { job: lone, input } = newJob('a');
    const arrival = { id: lone._id, jobs: [lone._id], lane: 'bulk' as const };
    await domain.ledger.takePlaces('a', arrival, { maxWaiting: 10, quota: undefined });
    await domain.store.inputs.save([storedInput(input)]);
    await domain.store.transitions.accept({ ...lone, place: placeOf('a', 'bulk', 0) });
    await domain.ledger.confirmArrival('a', lone._id);
    await serve();
    assert.equal((await job(lone._id)).state, 'dispatched');
  });

  it('dispatch a job that was given its slot by a process that died before it could say so', async () => {
    const running = await submit();
    const id = await submit();
    await endEarlyWithoutServing(running);
    const waiting = await job(id);
    assert.ok(await domain.ledger.takeNext('a', 'bulk', waiting, { head: 0, cap: 1 }));
    assert.equal(await repair(), 0, 'it may be on its way');
    domain.clock.pass(10_001);
    assert.equal(await repair(), 2, 'and the end of the first is followed up');
    assert.equal((await job(id)).state, 'dispatched');
    assert.equal(await slotsInUse(domain, 'a'), 1);
  });

  it('dispatch a job that got the slot of one that ended, by a process that died right after that update', async () => {
    const running = await submit();
    const id = await submit({ quotaPeriod: period });
    const ended = (await domain.store.transitions.cancel(await job(running))) as Job;
    const freed = await domain.handOver.free(ended);
    assert.deepEqual(
      freed?.granted.map(({ job }) => job._id),
      [id],
    );
    assert.equal((await job(id)).state, 'queued');
    domain.clock.pass(5001);
    assert.equal(await repair(), 1, 'the end is followed up, the other may be on its way');
    domain.clock.pass(5000);
    assert.equal(await repair(), 1);
    assert.equal((await job(id)).state, 'dispatched');
    assert.equal(await slotsInUse(domain, 'a'), 1);
    assert.equal((await domain.ledger.find('a'))?.waiting, 0);
    assert.equal((await usage()).totalRequests, 1);
  });

  it('take the slot back from a job that ended as it got it, by a process that died right after that update', async () => {
    const running = await submit();
    const id = await submit({ quotaPeriod: period });
    const third = await submit();
    const ended = (await domain.store.transitions.cancel(await job(running))) as Job;
    await domain.ledger.announceLeaving('a', id);
    const cancelled = (await domain.store.transitions.cancel(await job(id))) as Job;
    await domain.handOver.free(ended);
    assert.ok((await domain.ledger.find('a'))?.holders?.[id]);
    await domain.ends.follow(cancelled);
    domain.clock.pass(5001);
    await repair();
    await domain.flush();
    assert.equal((await job(third)).state, 'dispatched');
    assert.equal(await slotsInUse(domain, 'a'), 1);
    const record = await domain.ledger.find('a');
    assert.equal(record?.waiting, 0);
    assert.equal(record?.quota?.[period], 0);
    assert.equal((await domain.store.history.find(id))?.state, 'cancelled');
  });

  it('free the slot of a job whose worker died between the end of its attempt and the release', async () => {
    const id = await submit();
    const claimed = await claim(id, 'w');
    await domain.store.retries.schedule(id, 'a', domain.clock.now());
    assert.ok(await domain.store.transitions.retryLater(claimed, new PlatenError('RENDER_FAILED'), 0));
    assert.equal(await repair(), 0);
    domain.clock.pass(10_001);
    assert.equal(await repair(), 1);
    assert.equal(await slotsInUse(domain, 'a'), 0);
    assert.equal(await domain.retries.returnDue(), 1);
    assert.equal((await job(id)).state, 'dispatched');
  });

  it('leave alone the slot that a job has got anew since they looked', async () => {
    const id = await submit();
    const claimed = await claim(id, 'w');
    domain.clock.pass(10_001);
    // The sweep reads the ledgers; its attempt ends; the sweep reads the jobs; the job comes back and has a slot again.
    const ledgers = await domain.ledger.active();
    const { among } = domain.store.live;
    domain.store.live.among = async (ids) => {
      await domain.store.retries.schedule(id, 'a', domain.clock.now());
      const queued = await domain.store.transitions.retryLater(claimed, new PlatenError('RENDER_FAILED'), 0);
      const seen = await among.call(domain.store.live, ids);
      await domain.retries.releaseSlot(queued as Job);
      domain.clock.pass(1);
      await domain.retries.returnDue();
      return seen;
    };
    await repairNamedJobs(
      { ...domain, redeliveryMs: 1e9, retryBaseMs: 1000, random: () => 1, onRetried: () => {} },
      ledgers,
    );
    domain.store.live.among = among;
    assert.equal((await job(id)).state, 'dispatched');
    assert.equal(await slotsInUse(domain, 'a'), 1);
    assert.equal((await domain.ledger.find('a'))?.waiting, 0);
  });

  /** Ends a dispatched job and frees its slot, and dies before it is handed on. */
  const endEarlyWithoutServing = async (id: string) => {
    const cancelled = (await domain.store.transitions.cancel(await job(id))) as Job;
    await domain.ledger.leave(cancelled);
  };

  it('end what has waited for longer than its output would have been kept', async () => {
    await claim(await submit({ retentionHours: 10_000 }), 'w', 1e9);
    const id = await submit({ retentionHours: 2 });
    domain.clock.pass(2 * HOUR_MS - 60_000);
    assert.equal(await expire(), 0);
    domain.clock.pass(60_000);
    assert.equal(await expire(), 1);
    await domain.flush();
    assert.equal((await domain.store.history.find(id))?.error?.code, 'EXPIRED');
    assert.deepEqual(domain.ended, ['failed EXPIRED']);
    assert.equal((await domain.ledger.find('a'))?.waiting, 0);
  });

  it('follow up the end of a job whose process died at any step, once', async () => {
    const ends = domain.ends;
    const cancelled = async () => {
      const id = await submit({ quotaPeriod: period });
      return (await domain.store.transitions.cancel(await job(id))) as Job;
    };
    const repairOne = async () => {
      domain.clock.pass(5001);
      assert.equal(await repair(), 1);
      await domain.flush();
    };
    // Died right after the job had ended; after it had left its slot; after it was counted; after it was copied.
    await cancelled();
    await repairOne();
    await domain.ledger.leave(await cancelled());
    await repairOne();
    const counted = await cancelled();
    await domain.ledger.leave(counted);
    await domain.counters.countEnds([
      { jobId: counted._id, accountId: 'a', apiKeyId: 'key', at: domain.clock.now(), errorCode: 'CANCELLED' },
    ]);
    await repairOne();
    const copied = await cancelled();
    await domain.ledger.leave(copied);
    await domain.connection.collection<Job>('job_history').insertOne(copied);
    await repairOne();
    // And twice at once.
    const both = await cancelled();
    await Promise.all([ends.follow(both), ends.follow(both)]);
    await domain.flush();
    // And again, by a sweep that had looked at it before that was done.
    await ends.finish([both]);
    assert.equal((await usage()).totalRequests, 5);
    assert.equal(await domain.ledger.quotaUsed('a', period), 0);
    assert.equal(await domain.connection.collection('jobs').countDocuments(), 0);
    assert.equal(await domain.connection.collection('job_history').countDocuments(), 5);
    await serve();
    assert.deepEqual(await domain.ledger.active(), []);
  });

  it('end a waiting job whose canceller died after it had cancelled it', async () => {
    await claim(await submit(), 'w', 1e9);
    const id = await submit({ quotaPeriod: period });
    await domain.ledger.announceLeaving('a', id);
    await domain.store.transitions.cancel(await job(id));
    domain.clock.pass(5001);
    assert.equal(await repair(), 1);
    const record = await domain.ledger.find('a');
    assert.equal(record?.waiting, 0);
    assert.equal(record?.quota?.[period], 0);
    assert.deepEqual(domain.ended, ['cancelled CANCELLED']);
  });

  it('put right what a crash has left wrong in the number of those who wait', async () => {
    await submit();
    await endEarly(domain, (await job(pointers[0]?.jobId ?? (await firstId()))) as Job, (seen) =>
      domain.store.transitions.cancel(seen),
    );
    await domain.flush();
    const record = await domain.ledger.find('a');
    assert.ok(record && (await domain.ledger.setWaiting(record, 3)));
    assert.equal(await serve(), 1);
    assert.equal((await domain.ledger.find('a'))?.waiting, 0);
  });
  const firstId = async () => (await domain.connection.collection<Job>('jobs').findOne({}))?._id ?? 'none';

  it('delete a job, its file and its input when its retention has ended, and not before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platen-retention-'));
    const outputs = createFolderOutputStore(folder);
    const id = await submit();
    const claimed = await claim(id, 'w');
    const expiresAt = new Date(domain.clock.now().getTime() + HOUR_MS);
    const key = outputKey(id, 1, expiresAt);
    await outputs.put(key, new Uint8Array([1, 2, 3]));
    const output = { key, size: 3, pages: 1, sha256: '' };
    const done = await domain.store.transitions.complete(claimed, output, expiresAt);
    await domain.ends.follow(done!);
    await domain.flush();
    assert.equal(await inputs(), 0, 'the input of a completed job goes');
    await endRetention({ history: domain.store.history, stored: domain.stored }, outputs, domain.clock.now());
    const stored = await outputs.get(key);
    assert.ok(stored);
    stored.stream.destroy();
    domain.clock.pass(HOUR_MS + 1);
    await endRetention({ history: domain.store.history, stored: domain.stored }, outputs, domain.clock.now());
    assert.equal(await outputs.get(key), undefined);
    assert.equal(await domain.connection.collection('job_history').countDocuments(), 0);
    await rm(folder, { recursive: true });
  });
});
