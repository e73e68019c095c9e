import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '../../../src/infra/bus/bus.ts';
import { createInProcessBus } from '../../../src/infra/bus/in-process.ts';
import { createFolderOutputStore } from '../../../src/infra/outputs/folder.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';
import { newPrefix, sharedKafka, type TestKafka } from '../../support/kafka.ts';
import { workerOf } from '../../support/worker.ts';
import { openBus } from '../bus/kafka-help.ts';
import { RecordingConsumer } from '../bus/recording-consumer.ts';
import { type Bench, startBench } from '../chromium/support.ts';

const WORKERS = 3;
const ACCOUNTS = Array.from({ length: 30 }, (_, i) => `account-${i}`);
const ROUNDS = 3;

interface Leases {
  warm: number;
  cold: number;
}

describe('accounts of several workers', () => {
  let kafka: TestKafka;
  let domain: Domain;
  let folder: string;
  const closers: (() => Promise<unknown>)[] = [];

  before(async () => {
    kafka = await sharedKafka();
    folder = await mkdtemp(join(tmpdir(), 'platen-routing-'));
  });
  afterEach(async () => {
    for (const end of closers.splice(0).reverse()) await end();
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  /** One after the other, as the first member of the group waits for the next. @returns what it has leased. */
  const startWorker = async (bus: Bus, owner: string): Promise<Leases> => {
    const leases: Leases = { warm: 0, cold: 0 };
    const bench: Bench = await startBench({
      metrics: {
        browsers: { set: () => undefined },
        browserRestarts: { inc: () => undefined },
        contextLeases: {
          inc: ({ kind }) => {
            leases[kind] += 1;
          },
        },
      },
    });
    const worker = workerOf(domain, 2, {
      bus,
      owner,
      renderer: bench.renderer,
      outputs: createFolderOutputStore(folder),
      leaseMs: 30_000,
    });
    closers.push(async () => {
      await worker.stop(0);
      await Promise.all([bench.close(), bus.close()]);
    });
    await worker.start();
    return leases;
  };

  it('go where they are warm, and all workers have some', async () => {
    const prefix = newPrefix();
    const open = () => openBus(kafka, prefix);
    domain = await openDomain({ bus: await open() });
    closers.push(() => domain.close());
    const leases: Leases[] = [];
    for (let i = 0; i < WORKERS; i++) leases.push(await startWorker(await open(), `worker-${i}`));
    let admitted = 0;
    // Few at a time: on a slow machine a job would wait at its worker until others are offered it, where it is cold.
    const renderAll = async () => {
      for (const [i, account] of ACCOUNTS.entries()) {
        await domain.admit(newJob(account));
        admitted += 1;
        if ((i + 1) % WORKERS === 0)
          await eventually('they have ended', () => domain.ended.length === admitted);
      }
    };
    const total = (kind: keyof Leases) => leases.reduce((sum, one) => sum + one[kind], 0);
    // Until the group is in balance a partition may still go to another worker.
    await eventually('each worker has its part', async () => {
      const before = leases.map(({ warm, cold }) => warm + cold);
      await renderAll();
      return leases.every(({ warm, cold }, i) => warm + cold > before[i]!);
    });
    await renderAll();
    const [warm, cold] = [total('warm'), total('cold')];
    for (let round = 0; round < ROUNDS; round++) await renderAll();
    const share = (total('warm') - warm) / (total('warm') - warm + total('cold') - cold);
    assert.deepEqual([...new Set(domain.ended)], ['completed undefined']);
    assert.ok(share >= 0.95, `${Math.round(share * 100)} % of the renders met a warm context`);
  });

  it('are spread over more of them the more they have in flight', async () => {
    const bus = createInProcessBus();
    domain = await openDomain({ bus, plan: { concurrentRenders: 12 } });
    closers.push(() => domain.close());
    const consumer = new RecordingConsumer();
    const subscription = await bus.consumePointers(DEFAULT_POOL, consumer);
    closers.push(() => subscription.stop());
    const keysOf = async (account: string, jobs: number) => {
      for (let i = 0; i < jobs; i++) await domain.admit(newJob(account));
      const own = () => consumer.accepted.filter(({ routingKey }) => routingKey.startsWith(`${account}:`));
      await eventually('all are published', () => own().length === jobs);
      return new Set(own().map(({ routingKey }) => routingKey)).size;
    };
    assert.equal(await keysOf('quiet', 2), 1);
    const busy = await keysOf('busy', 12);
    assert.ok(busy > 1 && busy <= 6, `${busy} shards`);
  });
});
