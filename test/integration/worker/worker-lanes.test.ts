import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import type { LaneLease } from '../../../src/infra/bus/lanes.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import {
  UNSEEN_AFTER_MS,
  WorkerRegistry,
  type WorkerReport,
} from '../../../src/work/pools/worker-registry.ts';
import { TestClock } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';

const POOL = 'default';

function report(id: string, overrides: Partial<WorkerReport> = {}): WorkerReport {
  return {
    ...{ _id: id, pool: POOL, pod: null, namespace: null, node: null, slots: 4, busy: 1, state: 'claiming' },
    ...{ startedAt: new Date(0), sandbox: 'on', browser: null, ...overrides },
  };
}

describe('Lanes in the registry of workers', () => {
  let connection: Connection;
  let clock: TestClock;
  /** The registry of a process without a worker. */
  let publisher: WorkerRegistry;
  beforeEach(async () => {
    const { uri } = await startMongo();
    connection = await connectDatabase(uri, pino({ level: 'silent' }));
    clock = new TestClock();
    publisher = new WorkerRegistry(connection, clock);
    await ensureIndexes(connection);
  });
  afterEach(() => connection.close());

  /** A process with a worker that has a lane, which it reads. */
  async function startWorker(id: string, overrides: Partial<WorkerReport> = {}) {
    const registry = new WorkerRegistry(connection, clock);
    await registry.report(report(id, overrides));
    const worker = { registry, lost: 0, lease: undefined as LaneLease | undefined };
    worker.lease = await registry.lanes.take(overrides.pool ?? POOL, id, () => {
      worker.lost += 1;
    });
    await worker.lease.reads(true);
    return { ...worker, lost: () => worker.lost, lease: worker.lease };
  }
  const lanes = async (pool = POOL) => [...(await publisher.lanes.lanesOf(pool)).lanes].sort((a, b) => a - b);

  it('are one for each worker of a pool, the lowest that are free', async () => {
    for (const id of ['a', 'b', 'c']) await startWorker(id);
    await startWorker('other', { pool: 'large' });
    assert.deepEqual(await lanes(), [0, 1, 2]);
    assert.deepEqual(await lanes('large'), [0]);
    assert.deepEqual(await publisher.lanes.lanesOf('none'), { lanes: [], earlier: false });
  });

  it('are different ones though forty workers begin at the same moment', async () => {
    const workers = await Promise.all(Array.from({ length: 40 }, (_, n) => startWorker(`worker-${n}`)));
    assert.equal(new Set(workers.map(({ lease }) => lease.lane)).size, 40);
    assert.equal((await lanes()).length, 40);
  });

  it('are given back at once by a worker that ends, and taken by the next', async () => {
    const { lease } = await startWorker('a');
    await startWorker('b');
    await lease.release();
    assert.deepEqual(await lanes(), [1]);
    assert.equal((await startWorker('c')).lease.lane, 0);
  });

  it('of a silent worker go to another one, and the first learns of it by its next report', async () => {
    const silent = await startWorker('silent');
    clock.pass(UNSEEN_AFTER_MS + 1);
    assert.deepEqual(await lanes(), []);
    const next = await startWorker('next');
    assert.equal(next.lease.lane, 0);
    assert.equal(silent.lost(), 0);
    await silent.registry.report(report('silent'));
    await silent.registry.report(report('silent'));
    assert.equal(silent.lost(), 1);
    // What it does with the lease now does not concern the new holder.
    await silent.lease.reads(false);
    await silent.lease.release();
    assert.deepEqual(await lanes(), [0]);
    assert.equal((await silent.registry.lanes.take(POOL, 'silent', () => undefined)).lane, 1);
  });

  it('stay with a worker that is paused for less long, though it is asked for', async () => {
    const first = await startWorker('first');
    clock.pass(UNSEEN_AFTER_MS / 2);
    assert.equal((await startWorker('second')).lease.lane, 1);
    await first.registry.report(report('first'));
    assert.equal(first.lost(), 0);
  });

  it('that are not read yet are used only while none is read', async () => {
    const first = await startWorker('first');
    await first.lease.reads(false);
    assert.deepEqual(await lanes(), [0]);
    await startWorker('second');
    assert.deepEqual(await lanes(), [1]);
    await first.lease.reads(true);
    assert.deepEqual(await lanes(), [0, 1]);
  });

  it('are idle while their workers claim and have free slots', async () => {
    await startWorker('free');
    await startWorker('full', { busy: 4 });
    await startWorker('paused', { state: 'paused' });
    assert.deepEqual(await publisher.lanes.idleLanesOf(POOL, 10), [{ lane: 0, free: 3 }]);
    clock.pass(UNSEEN_AFTER_MS + 1);
    assert.deepEqual(await publisher.lanes.idleLanesOf(POOL, 10), []);
  });

  it('are unknown to workers of an earlier version, as long as there are no others', async () => {
    const { idle: _, ...earlier } = await publisher.report(report('earlier'));
    await publisher.remove('earlier');
    await connection.collection<{ _id: string }>('workers').insertOne(earlier);
    assert.deepEqual(await publisher.lanes.lanesOf(POOL), { lanes: [], earlier: true });
    await startWorker('new');
    assert.deepEqual(await publisher.lanes.lanesOf(POOL), { lanes: [0], earlier: false });
  });

  it('are for workers in the registry alone', async () => {
    await assert.rejects(
      publisher.lanes.take(POOL, 'unknown', () => undefined),
      /has not reported/,
    );
  });
});
