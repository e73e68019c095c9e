import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import type { Bus } from '../../../src/infra/bus/bus.ts';
import { createInProcessBus } from '../../../src/infra/bus/in-process.ts';
import { createFolderOutputStore } from '../../../src/infra/outputs/folder.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { WorkerRegistry } from '../../../src/work/pools/worker-registry.ts';
import { WorkerPresence } from '../../../src/worker/presence.ts';
import type { Worker } from '../../../src/worker/worker.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';
import { HeldRenderer } from '../../support/held-renderer.ts';
import { newPrefix, sharedKafka, type TestKafka } from '../../support/kafka.ts';
import { startMongo } from '../../support/mongo.ts';
import { workerOf } from '../../support/worker.ts';
import { openBus } from '../bus/kafka-help.ts';

const SLOTS = 2;
const REDELIVERY_MS = 5000;
const logger = pino({ level: 'silent' });

/** A worker with its record in the registry, as the role puts them together. */
interface Running {
  readonly name: string;
  readonly bus: Bus;
  readonly renderer: HeldRenderer;
  readonly worker: Worker;
  readonly presence: WorkerPresence;
}

describe('A worker that is to pause', () => {
  let domain: Domain;
  let registry: WorkerRegistry;
  let folder: string;
  let running: Running[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-pause-'));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    running = [];
  });
  afterEach(async () => {
    for (const { worker, presence, bus } of running) {
      await worker.stop(0);
      await presence.stop();
      await bus.close();
    }
    await domain.close();
  });

  const open = async (bus: Bus, connection?: Connection) => {
    const plan = { concurrentRenders: 100, maxWaitingJobs: 1000 };
    domain = await openDomain({ bus, plan, ...(connection !== undefined && { connection }) });
    registry = new WorkerRegistry(domain.connection, domain.clock);
  };
  /** @param own the registry of its process, whose lanes the bus goes by. */
  const start = async (name: string, bus: Bus, own = registry): Promise<Running> => {
    const renderer = new HeldRenderer();
    renderer.holds = false;
    const worker = workerOf(domain, SLOTS, {
      bus,
      renderer,
      outputs: createFolderOutputStore(folder),
      owner: name,
      leaseMs: 5000,
    });
    const startedAt = new Date();
    const presence = new WorkerPresence({
      registry: own,
      describe: () => ({
        _id: name,
        pool: DEFAULT_POOL,
        pod: null,
        namespace: null,
        node: null,
        slots: SLOTS,
        busy: worker.busy,
        state: worker.state,
        startedAt,
        sandbox: 'unknown',
        browser: null,
      }),
      follow: (mayClaim) => (mayClaim ? worker.resume() : worker.pause()),
      logger,
    });
    await presence.start();
    await worker.start();
    const started = { name, bus, renderer, worker, presence };
    running.push(started);
    return started;
  };
  const submit = async (count: number) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const { job, input } = newJob(`account-${i % 20}`);
      await domain.admit({ job, input });
      ids.push(job._id);
    }
    return ids;
  };
  const said = async (name: string) => (await registry.list()).find(({ _id }) => _id === name);
  const saysState = (name: string, state: string) =>
    eventually(`${name} says that it is ${state}`, async () => (await said(name))?.state === state);
  /** Publishes again what a publisher has sent to a lane that was given back before it knew, as the dispatcher does. */
  const redeliver = async () =>
    repairInterruptedJobs(
      { ...domain, redeliveryMs: 0, retryBaseMs: 100, random: () => 1, onRetried: () => {} },
      await domain.ledger.active(),
    );
  /** Who rendered these jobs, once all of them have ended. */
  const renderersOf = async (ids: readonly string[]) => {
    const history = domain.connection.collection<{ _id: string; owner: string }>('job_history');
    let redelivered = Date.now();
    const find = async () => {
      await domain.flush();
      if (Date.now() - redelivered > REDELIVERY_MS) {
        await redeliver();
        redelivered = Date.now();
      }
      return history.find({ _id: { $in: [...ids] } }).toArray();
    };
    await eventually('all have ended', async () => (await find()).length === ids.length);
    return new Set((await find()).map(({ owner }) => owner));
  };

  it('claims nothing more, finishes what it has, reports that it is empty, and claims again when it may', async () => {
    const bus = createInProcessBus();
    await open(bus);
    const { renderer, worker } = await start('a', bus);
    renderer.holds = true;
    const [held] = await submit(1);
    await eventually('it renders', () => renderer.running.has(held!));
    await eventually('it says so', async () => (await said('a'))?.busy === 1);
    await registry.requestPause(['a']);
    await saysState('a', 'paused');
    assert.equal((await said('a'))?.busy, 1);
    const waiting = await submit(3);
    await sleep(500);
    assert.equal(renderer.running.size, 1, 'it takes nothing');
    renderer.running.get(held!)!();
    await eventually('it reports that it is empty', async () => (await said('a'))?.busy === 0);
    assert.equal(worker.state, 'paused');

    renderer.holds = false;
    await registry.cancelPause(['a']);
    assert.deepEqual(await renderersOf([held!, ...waiting]), new Set(['a']));
    await saysState('a', 'claiming');
  });

  it('is drained by an operator, whatever its controller requests, until the operator resumes it', async () => {
    const bus = createInProcessBus();
    await open(bus);
    const { worker } = await start('a', bus);
    await saysState('a', 'claiming');
    await registry.requestDrain('a', true);
    await saysState('a', 'paused');
    await registry.requestPause(['a']);
    await registry.cancelPause(['a']);
    const seen = (await said('a'))!.seenAt;
    await eventually('it has reported since', async () => (await said('a'))!.seenAt > seen);
    assert.equal(worker.state, 'paused');
    const waiting = await submit(1);
    await registry.requestDrain('a', false);
    assert.deepEqual(await renderersOf(waiting), new Set(['a']));
  });

  it('does not claim again by itself once it is ending', async () => {
    const bus = createInProcessBus();
    await open(bus);
    const { worker, renderer, presence } = await start('a', bus);
    renderer.holds = true;
    const [held] = await submit(1);
    await eventually('it renders', () => renderer.running.has(held!));
    await registry.requestPause(['a']);
    await saysState('a', 'paused');
    const stopping = worker.stop(10_000);
    await registry.cancelPause(['a']);
    await saysState('a', 'ending');
    await presence.reportNow();
    await submit(2);
    await sleep(300);
    assert.equal(renderer.running.size, 1);
    renderer.running.get(held!)!();
    await stopping;
    await presence.stop();
    assert.equal(await said('a'), undefined, 'it is gone from the registry');
  });

  describe('over Kafka', () => {
    let kafka: TestKafka;
    before(async () => {
      kafka = await sharedKafka();
    });

    it('leaves all work to another meanwhile, loses none, stays ready, and takes its part again', async () => {
      const prefix = newPrefix();
      const connection = await connectDatabase((await startMongo()).uri, logger);
      const process = async () => {
        const own = new WorkerRegistry(connection, { now: () => new Date() });
        return { own, bus: await openBus(kafka, prefix, { lanes: own.lanes }) };
      };
      const [first, second] = [await process(), await process()];
      await open(first.bus, connection);
      const a = await start('a', first.bus, first.own);
      const b = await start('b', second.bus, second.own);
      const bothServe = () =>
        eventually('both serve', async () => (await renderersOf(await submit(40))).size === 2);
      await bothServe();
      await eventually('they are ready', () => [a, b].every(({ bus }) => bus.problem() === undefined));
      const problems = new Set<string | undefined>();
      const watching = setInterval(() => problems.add(a.bus.problem()), 5);

      // Some are on their way to it as it leaves.
      const around = submit(60);
      await registry.requestPause(['a']);
      await saysState('a', 'paused');
      await renderersOf(await around);
      for (let round = 0; round < 5; round += 1) {
        const ids = await submit(20);
        assert.deepEqual(await renderersOf(ids), new Set(['b']));
      }
      assert.deepEqual(
        [await said('a'), await said('b')].map((worker) => worker?.state),
        ['paused', 'claiming'],
      );
      await eventually('it reports that it is empty', async () => (await said('a'))?.busy === 0);

      await registry.cancelPause(['a']);
      await saysState('a', 'claiming');
      await bothServe();
      clearInterval(watching);
      assert.deepEqual([...problems], [undefined], 'it was ready all the time');
    });
  });
});
