import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus, JobPointer, PointerConsumer } from '../../../src/infra/bus/bus.ts';
import { createInProcessBus } from '../../../src/infra/bus/in-process.ts';
import { createFolderOutputStore } from '../../../src/infra/outputs/folder.ts';
import type { Worker } from '../../../src/worker/worker.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';
import { HeldRenderer } from '../../support/held-renderer.ts';
import { newPrefix, sharedKafka, type TestKafka } from '../../support/kafka.ts';
import { workerOf } from '../../support/worker.ts';
import { openBus } from '../bus/kafka-help.ts';

const SLOTS = 2;

describe('Accounts at the slots of a worker', () => {
  let domain: Domain;
  let folder: string;
  let running: { worker: Worker; bus: Bus }[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-turns-'));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    running = [];
  });
  afterEach(async () => {
    for (const { worker, bus } of running) {
      await worker.stop(0);
      await bus.close();
    }
    await domain.close();
  });

  const open = async (bus: Bus) => {
    domain = await openDomain({ bus, plan: { concurrentRenders: 40, maxWaitingJobs: 1000 } });
  };
  const start = async (owner: string, bus: Bus): Promise<HeldRenderer> => {
    const renderer = new HeldRenderer();
    const worker = workerOf(domain, SLOTS, {
      bus,
      renderer,
      owner,
      outputs: createFolderOutputStore(folder),
      leaseMs: 60_000,
    });
    await worker.start();
    running.push({ worker, bus });
    return renderer;
  };
  const submit = async (accountId: string, count: number) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const { job, input } = newJob(accountId);
      await domain.admit({ job, input });
      ids.push(job._id);
    }
    return ids;
  };
  const isFull = (renderer: HeldRenderer) =>
    eventually('all slots are taken', () => renderer.running.size === SLOTS);
  /** Ends a render. @returns the one that takes its slot. */
  const endOne = async (renderer: HeldRenderer): Promise<string> => {
    const before = [...renderer.running.keys()];
    renderer.running.get(before[0]!)!();
    let next: string | undefined;
    await eventually('the slot is taken', () => {
      next = [...renderer.running.keys()].find((id) => !before.includes(id));
      return next !== undefined;
    });
    return next!;
  };
  /** One account has far more to render than there are slots; then another comes with two jobs. */
  const checkFairness = async (bus: Bus) => {
    await open(bus);
    const accepted = new Set<string>();
    // Before there is a worker: an account whose renders are held for seconds is a slow one, and slots are kept from it.
    await submit('many', 30);
    const renderer = await start('a', withNoteOf(bus, accepted));
    await isFull(renderer);
    const few = await submit('few', 2);
    await eventually('they wait at the worker', () => few.every((id) => accepted.has(id)));
    assert.deepEqual(new Set([await endOne(renderer), await endOne(renderer)]), new Set(few));
    for (let n = 0; n < 28 + 2; n += 1) {
      const [first] = renderer.running.values();
      const size = domain.ended.length;
      first!();
      await eventually('it has ended', () => domain.ended.length > size);
      if (n < 28) await isFull(renderer);
    }
    assert.equal(domain.ended.length, 32);
  };

  it('get slots by the fair queue: one with many renders keeps no other waiting for more than the next to end', async () => {
    await checkFairness(createInProcessBus());
  });

  describe('over Kafka', () => {
    let kafka: TestKafka;
    before(async () => {
      kafka = await sharedKafka();
    });

    it('get slots by the fair queue, though the pointers of the one are behind those of the other', async () => {
      await checkFairness(await openBus(kafka, newPrefix()));
    });

    it('find a worker that has room for what waits at another, though their keys lead to that one', async () => {
      const prefix = newPrefix();
      const bus = await openBus(kafka, prefix);
      await open(withOneKey(bus));
      const workers = [await start('a', bus), await start('b', await openBus(kafka, prefix))];
      await submit('one', 2 * SLOTS);
      // Nothing ends, and no sweep publishes anything again.
      await Promise.all(workers.map(isFull));
      for (const { running } of workers) for (const end of running.values()) end();
      await eventually('all have ended', () => domain.ended.length === 2 * SLOTS);
    });

    it('find another worker for what waits at one, as soon as it has come', async () => {
      const prefix = newPrefix();
      const bus = await openBus(kafka, prefix);
      await open(bus);
      const first = await start('a', bus);
      for (let n = 0; n < 20; n += 1) await submit(`account-${n}`, 1);
      await isFull(first);
      // Nothing ends at the first worker, and no sweep publishes anything again.
      const second = await start('b', await openBus(kafka, prefix));
      await isFull(second);
      const allHaveEnded = () => {
        for (const { running } of [first, second]) for (const end of running.values()) end();
        return domain.ended.length === 20;
      };
      await eventually('all have ended', allHaveEnded);
    });
  });
});

/** The bus for one worker, with a note of the jobs whose pointers that has taken. */
function withNoteOf(bus: Bus, accepted: Set<string>): Bus {
  const noted = (consumer: PointerConsumer): PointerConsumer => ({
    worker: consumer.worker,
    reserve: (...asked) => consumer.reserve(...asked),
    async accept(pointer, slot) {
      await consumer.accept(pointer, slot);
      accepted.add(pointer.jobId);
    },
  });
  return new Proxy(bus, {
    get(target, name: keyof Bus) {
      if (name === 'consumePointers')
        return (pool: string, consumer: PointerConsumer) => target.consumePointers(pool, noted(consumer));
      const method = target[name];
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}

/** A bus on which all pointers are for one worker. */
function withOneKey(bus: Bus): Bus {
  return new Proxy(bus, {
    get(target, name: keyof Bus) {
      if (name === 'publishPointer')
        return (pointer: JobPointer) => target.publishPointer({ ...pointer, routingKey: 'one:0' });
      const method = target[name];
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}
