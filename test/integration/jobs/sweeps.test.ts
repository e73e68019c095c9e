import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_POOL, type JobPointer, type Subscription } from '../../../src/bus/bus.ts';
import { PlatenError } from '../../../src/errors/registry.ts';
import { saveInput } from '../../../src/jobs/inputs.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { expireLeases } from '../../../src/jobs/sweeps/expire-leases.ts';
import { recountSlots } from '../../../src/jobs/sweeps/recount-slots.ts';
import { republish } from '../../../src/jobs/sweeps/republish.ts';
import { deleteOrphanInputs, endRetention, moveLeftBehind } from '../../../src/jobs/sweeps/retention.ts';
import { expireWaiting, serveWaiting } from '../../../src/jobs/sweeps/serve-waiting.ts';
import { createFolderOutputStore } from '../../../src/store/outputs/folder.ts';
import { outputKey } from '../../../src/store/outputs/output-store.ts';
import { type Domain, newJob, openDomain, slotsInUse } from '../../support/domain.ts';

const HOUR_MS = 3_600_000;

describe('sweeps', () => {
  let domain: Domain;
  const pointers: JobPointer[] = [];
  const retried: string[] = [];
  let subscription: Subscription;
  beforeEach(async () => {
    domain = await openDomain({ plan: { concurrentRenders: 1 } });
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

  const parts = () => ({
    ...domain,
    planOf: async () => domain.plan,
    now: domain.clock.now(),
    retryBaseMs: 1000,
    random: () => 1,
    onRetried: (code: string) => retried.push(code),
  });
  const submit = async (over: Partial<Job> = {}) => {
    const { job, input } = newJob('a', over);
    await domain.dispatch.submit(job, input);
    return job._id;
  };
  const job = async (id: string) => (await domain.collections.jobs.findById(id).lean()) as Job;

  it('publish again the pointer of a job that nobody claimed, and not of one that was claimed', async () => {
    const id = await submit();
    domain.clock.pass(4000);
    assert.equal(await republish({ ...parts(), unclaimedForMs: 5000 }), 0);
    domain.clock.pass(2000);
    assert.equal(await republish({ ...parts(), unclaimedForMs: 5000 }), 1);
    assert.equal(await republish({ ...parts(), unclaimedForMs: 5000 }), 0, 'the pointers are spaced');
    await new Promise(setImmediate);
    assert.deepEqual(
      pointers.map(({ jobId, version }) => [jobId, version]),
      [
        [id, 1],
        [id, 1],
      ],
    );
    assert.ok(await domain.lifecycle.claim(await job(id), 'w', 1000));
    domain.clock.pass(60_000);
    assert.equal(await republish({ ...parts(), unclaimedForMs: 5000 }), 0);
  });

  it('take a job from a lost worker, three times in all, then fail it', async () => {
    const id = await submit();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const claimed = await domain.lifecycle.claim(await job(id), `w${attempt}`, 15_000);
      assert.equal(claimed?.attempts, attempt);
      assert.equal(await expireLeases(parts()), 0, 'the lease still runs');
      domain.clock.pass(15_001);
      assert.equal(await expireLeases(parts()), 1);
      assert.equal(await slotsInUse(domain, 'a'), 0);
      assert.equal(await domain.lifecycle.retryLater(claimed!, new PlatenError('INTERNAL'), 0), undefined);
      if (attempt === 3) break;
      assert.equal((await job(id)).state, 'queued');
      await serveWaiting(parts());
      assert.equal((await job(id)).state, 'queued', 'the back-off has not passed');
      domain.clock.pass(4001);
      await serveWaiting(parts());
      assert.equal((await job(id)).state, 'dispatched');
    }
    await domain.mover.flush();
    const failed = (await domain.collections.history.findById(id).lean()) as Job;
    assert.equal(failed.state, 'failed');
    assert.equal(failed.error?.code, 'WORKER_LOST');
    assert.ok(await domain.collections.inputs.findById(id), 'the input of a failed job stays');
    assert.deepEqual(retried, ['WORKER_LOST', 'WORKER_LOST']);
    assert.deepEqual(domain.ended, ['failed WORKER_LOST']);
  });

  it('give back the slot of a process that died before it had written its job, and serve who waits for it', async () => {
    assert.ok(await domain.slots.acquire('a', 'never-written', 1, false));
    const id = await submit();
    assert.equal((await job(id)).state, 'queued');
    assert.equal(await recountSlots(parts()), 0, 'it may still be on its way');
    domain.clock.pass(10_001);
    assert.equal(await recountSlots(parts()), 1);
    assert.equal((await job(id)).state, 'dispatched');
    domain.clock.pass(60_000);
    assert.equal(await recountSlots(parts()), 0, 'a slot in use is left alone');
    assert.equal(await slotsInUse(domain, 'a'), 1);
  });

  it('serve a job that a crash left waiting beside a free slot', async () => {
    const { job: lone, input } = newJob('a');
    await saveInput(domain.collections, input);
    await domain.lifecycle.accept(lone);
    await serveWaiting(parts());
    assert.equal((await job(lone._id)).state, 'dispatched');
  });

  it('end what has waited for longer than its output would have been kept', async () => {
    await submit();
    const id = await submit({ retentionHours: 2 });
    domain.clock.pass(2 * HOUR_MS - 60_000);
    assert.equal(await expireWaiting(parts()), 0);
    domain.clock.pass(60_000);
    assert.equal(await expireWaiting(parts()), 1);
    await domain.mover.flush();
    assert.equal(((await domain.collections.history.findById(id).lean()) as Job).error?.code, 'EXPIRED');
    assert.deepEqual(domain.ended, ['failed EXPIRED']);
  });

  it('move what a dead process left behind to the history, also when half of that was done', async () => {
    const id = await submit();
    const cancelled = await domain.lifecycle.cancel(await job(id));
    await domain.collections.history.collection.insertOne(cancelled as never);
    assert.equal(await moveLeftBehind(domain.collections, domain.clock.now(), async () => {}), 0);
    domain.clock.pass(5001);
    assert.equal(await moveLeftBehind(domain.collections, domain.clock.now(), async () => {}), 1);
    assert.equal(await domain.collections.jobs.countDocuments({}), 0);
    assert.equal(await domain.collections.history.countDocuments({}), 1);
  });

  it('delete a job, its file and its input when its retention has ended, and not before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platen-retention-'));
    const outputs = createFolderOutputStore(folder);
    const id = await submit();
    const claimed = await domain.lifecycle.claim(await job(id), 'w', 15_000);
    const expiresAt = new Date(domain.clock.now().getTime() + HOUR_MS);
    const key = outputKey(id, 1, expiresAt);
    await outputs.put(key, new Uint8Array([1, 2, 3]));
    const done = await domain.lifecycle.complete(claimed!, { key, size: 3, pages: 1, sha256: '' }, expiresAt);
    await domain.dispatch.settle(done!);
    await domain.mover.flush();
    assert.equal(await domain.collections.inputs.countDocuments({}), 0, 'the input of a completed job goes');
    await endRetention(domain.collections, outputs, domain.clock.now());
    const stored = await outputs.get(key);
    assert.ok(stored);
    stored.stream.destroy();
    domain.clock.pass(HOUR_MS + 1);
    await endRetention(domain.collections, outputs, domain.clock.now());
    assert.equal(await outputs.get(key), undefined);
    assert.equal(await domain.collections.history.countDocuments({}), 0);
    await rm(folder, { recursive: true });
  });

  it('delete inputs that never got a job, and no others', async () => {
    const orphan = newJob('a').input;
    await saveInput(domain.collections, orphan);
    const kept = await submit();
    assert.equal(await deleteOrphanInputs(domain.collections, domain.clock.now()), 0);
    domain.clock.pass(HOUR_MS + 1);
    assert.equal(await deleteOrphanInputs(domain.collections, domain.clock.now()), 1);
    assert.deepEqual(
      (await domain.collections.inputs.find({}).lean()).map(({ _id }) => _id),
      [kept],
    );
  });
});
