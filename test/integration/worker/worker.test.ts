import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createFolderOutputStore } from '../../../src/infra/outputs/folder.ts';
import type { OutputStore } from '../../../src/infra/outputs/output-store.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { type DatabaseWay, openDatabaseWay } from '../../support/database-way.ts';
import { type Domain, newJob, openDomain, slotsInUse } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';
import { HeldRenderer } from '../../support/held-renderer.ts';
import { startMongo } from '../../support/mongo.ts';
import { workerOf } from '../../support/worker.ts';

/** Of which two thirds may pass without a renewal: more than a machine stands still. */
const LEASE_MS = 3000;

describe('a worker', () => {
  let domain: Domain;
  let renderer: HeldRenderer;
  let outputs: OutputStore;
  let folder: string;
  let dropped: number;
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(JSON.parse(line)) });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-worker-'));
    outputs = createFolderOutputStore(folder);
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    renderer = new HeldRenderer();
    dropped = 0;
    log.length = 0;
  });
  let way: DatabaseWay | undefined;
  afterEach(async () => {
    await domain.close();
    way?.close();
    way = undefined;
  });

  const lost = () => {
    dropped += 1;
  };

  const startWorker = async ({ slots = 2, pool = DEFAULT_POOL } = {}) => {
    const worker = workerOf(domain, slots, {
      renderer,
      outputs,
      pool,
      owner: 'w',
      leaseMs: LEASE_MS,
      logger,
      observe: { claimed() {}, rendered() {}, ended() {}, retried() {}, lost },
    });
    await worker.start();
    return worker;
  };
  const admit = async (pool = DEFAULT_POOL) => {
    const { job, input } = newJob('a', { pool });
    await domain.admit({ job, input });
    return job._id;
  };
  const live = async (id: string) => (await domain.store.live.find(id)) as Job;
  const isRunning = (id: string) => eventually('it is rendered', () => renderer.running.has(id));
  const sweep = async () =>
    repairInterruptedJobs(
      { ...domain, redeliveryMs: 1e9, retryBaseMs: 100, random: () => 1, onRetried: () => {} },
      await domain.ledger.active(),
    );

  it('renders in as many slots as it has, and keeps the leases of what it renders', async () => {
    domain = await openDomain();
    const worker = await startWorker();
    const ids = [await admit(), await admit(), await admit()];
    await isRunning(ids[0]!);
    await isRunning(ids[1]!);
    await sleep(1.5 * LEASE_MS);
    assert.equal(renderer.running.size, 2);
    assert.equal(await sweep(), 0, 'the leases were renewed');
    for (const id of ids) {
      await isRunning(id);
      renderer.running.get(id)!();
    }
    await eventually('all have ended', async () => (await slotsInUse(domain, 'a')) === 0);
    await eventually('all is followed up', () => domain.ended.length === 3);
    assert.deepEqual(domain.ended, Array(3).fill('completed undefined'));
    await worker.stop(0);
  });

  it('that is stopped finishes its renders within the grace time, and takes no more jobs', async () => {
    domain = await openDomain();
    const worker = await startWorker();
    const id = await admit();
    await isRunning(id);
    const stopping = worker.stop(5000);
    const late = await admit();
    await sleep(100);
    renderer.running.get(id)!();
    await stopping;
    assert.deepEqual(domain.ended, ['completed undefined']);
    assert.equal((await live(late)).state, 'dispatched');
  });

  it('that is stopped gives back the jobs that do not finish in time, as if they had not begun', async () => {
    domain = await openDomain({ plan: { concurrentRenders: 2 } });
    const worker = await startWorker();
    const id = await admit();
    await isRunning(id);
    await worker.stop(50);
    assert.deepEqual(renderer.stopped, [id]);
    const back = await live(id);
    // Nobody waits: it has its slot again at once, for another worker.
    assert.equal(back.state, 'dispatched');
    assert.equal(back.attempts, 0);
    assert.equal(await slotsInUse(domain, 'a'), 1);
    const other = await startWorker();
    await isRunning(id);
    renderer.running.get(id)!();
    await eventually('it is completed', () => domain.ended.length === 1);
    await other.stop(0);
  });

  it('that has no browser gives back what it holds, as if it had not begun, and claims nothing until it has one', async () => {
    domain = await openDomain({ plan: { concurrentRenders: 2 } });
    const worker = await startWorker();
    const id = await admit();
    await isRunning(id);
    // A browser that is replaced at once is no reason.
    renderer.ready = false;
    await sleep(3000);
    renderer.ready = true;
    await sleep(1500);
    renderer.ready = false;
    await sleep(3000);
    assert.deepEqual([renderer.stopped, worker.state], [[], 'claiming']);
    await eventually('the render is stopped', () => renderer.stopped.includes(id));
    await eventually('it claims nothing', () => worker.state === 'paused');
    await eventually('the job is given back', async () => (await live(id)).state === 'dispatched');
    assert.equal((await live(id)).attempts, 0);
    const late = await admit();
    await worker.resume();
    await sleep(300);
    assert.deepEqual([renderer.running.size, worker.state], [0, 'paused']);

    renderer.ready = true;
    for (const waiting of [id, late]) {
      await isRunning(waiting);
      renderer.running.get(waiting)!();
    }
    await eventually('both have ended', () => domain.ended.length === 2);
    assert.deepEqual(domain.ended, Array(2).fill('completed undefined'));
    assert.equal(worker.state, 'claiming');
    await worker.stop(0);
  });

  it('stops a render that was cancelled, and counts its result as dropped', async () => {
    domain = await openDomain();
    const worker = await startWorker();
    const id = await admit();
    await isRunning(id);
    const cancelled = await domain.store.transitions.cancel([await live(id)]);
    await domain.followUp.follow(cancelled);
    await eventually('it is stopped', () => renderer.stopped.includes(id));
    await eventually('it is counted', () => dropped === 1);
    assert.ok(log.some(({ msg, jobId }) => jobId === id && /render dropped/.test(String(msg))));
    await worker.stop(0);
  });

  it('serves its own pool and no other', async () => {
    domain = await openDomain({ plan: { poolRef: 'gpu' } });
    const worker = await startWorker();
    const id = await admit('gpu');
    await sleep(100);
    assert.equal(renderer.running.size, 0);
    await worker.stop(0);
    const other = await startWorker({ pool: 'gpu' });
    await isRunning(id);
    renderer.running.get(id)!();
    await eventually('it is completed', () => domain.ended.length === 1);
    await other.stop(0);
  });

  it('that cannot reach the database for as long as a lease lasts stops its renders, and another takes them up', async () => {
    const { uri } = await startMongo();
    way = await openDatabaseWay(uri);
    domain = await openDomain({ uri: way.uri });
    const worker = await startWorker();
    const id = await admit();
    await isRunning(id);
    way.cut();
    await eventually('it is stopped', () => renderer.stopped.includes(id));
    way.repair();
    await eventually('it is counted', () => dropped === 1);
    domain.clock.pass(LEASE_MS);
    await eventually('its lease has ended', async () => (await sweep()) === 1);
    const queued = await live(id);
    assert.deepEqual([queued.state, queued.error?.code], ['queued', 'WORKER_LOST']);
    domain.clock.pass(1000);
    await domain.retries.returnDue();
    await isRunning(id);
    renderer.running.get(id)!();
    await eventually('it is completed', () => domain.ended.length === 1);
    await worker.stop(0);
  });
});
