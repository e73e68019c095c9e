import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import type { Bus, JobPointer, PointerConsumer, Slot } from '../../../src/infra/bus/bus.ts';
import type { KafkaBusOptions } from '../../../src/infra/bus/kafka.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { PlanMirror } from '../../../src/tenants/plans/plan-mirror.ts';
import { BUILT_IN } from '../../../src/tenants/plans/plan-source.ts';
import { PoolTopics } from '../../../src/work/pools/pool-topics.ts';
import { TopicReconciler } from '../../../src/work/pools/topic-reconciler.ts';
import { WorkerRegistry } from '../../../src/work/pools/worker-registry.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';
import { newPrefix, sharedKafka, type TestKafka } from '../../support/kafka.ts';
import { problemGone } from './contract.ts';
import { openBus } from './kafka-help.ts';

const WORKERS = 4;
const PARTITIONS = 2;

/** A worker that claims the job of each pointer, as every worker does, and has unlimited slots. */
class Claimer implements PointerConsumer {
  readonly claimed: string[] = [];
  readonly #domain: Domain;
  readonly #owner: string;

  constructor(domain: Domain, owner: string) {
    this.#domain = domain;
    this.#owner = owner;
  }

  async reserve(): Promise<Slot> {
    return { release: () => undefined };
  }

  async accept({ jobId, version }: JobPointer): Promise<void> {
    const claimed = await this.#domain.store.transitions.claim({ _id: jobId, version }, this.#owner, 600_000);
    if (claimed !== undefined) this.claimed.push(jobId);
  }
}

describe('a pool with more workers than its topics have partitions', () => {
  let kafka: TestKafka;
  let domain: Domain;
  let prefix: string;
  const opened: Bus[] = [];

  before(async () => {
    kafka = await sharedKafka();
  });
  beforeEach(() => {
    prefix = newPrefix();
  });
  afterEach(async () => {
    await domain?.close();
    await Promise.all(opened.splice(0).map((bus) => bus.close()));
  });

  const open = async (more: Partial<KafkaBusOptions> = {}) => {
    const bus = await openBus(kafka, prefix, { partitions: PARTITIONS, ...more });
    opened.push(bus);
    await problemGone(bus);
    return bus;
  };

  it('gets partitions, so that each of its workers gets jobs, each job once', async () => {
    domain = await openDomain({ bus: await open() });
    const claimers: Claimer[] = [];
    for (let i = 0; i < WORKERS; i += 1) {
      const claimer = new Claimer(domain, `worker-${i}`);
      claimers.push(claimer);
      await (await open()).consumePointers(DEFAULT_POOL, claimer);
    }
    let admitted = 0;
    let admitting = true;
    const load = (async () => {
      while (admitting) {
        // Each by an account of its own, and so with a key of its own.
        await domain.admit(newJob(`account-${admitted}`));
        admitted += 1;
        await sleep(20);
      }
    })();
    const claims = () => claimers.flatMap(({ claimed }) => claimed);
    /** Resolves when at least so many workers have claimed a job since. More may have, where partitions changed hands. */
    const busy = async (workers: number) => {
      const before = claimers.map(({ claimed }) => claimed.length);
      const started = () => claimers.filter(({ claimed }, i) => claimed.length > before[i]!).length;
      await eventually(`${workers} workers get jobs`, () => started() >= workers);
    };
    try {
      await busy(PARTITIONS);
      const mirror = new PlanMirror(domain.connection);
      const registry = new WorkerRegistry(domain.connection, domain.clock);
      const topics = new PoolTopics(domain.connection);
      await ensureIndexes(domain.connection);
      const asked: number[] = [];
      const dispatchers = await open();
      const bus: Pick<Bus, 'makeRoom'> = {
        makeRoom(pool, workers) {
          asked.push(workers);
          return dispatchers.makeRoom(pool, workers);
        },
      };
      const reconciler = new TopicReconciler({
        bus,
        mirror,
        registry,
        topics,
        logger: pino({ level: 'silent' }),
      });
      const pool = (maxWorkers: number) => new Map([[DEFAULT_POOL, { slotsPerWorker: 2, maxWorkers }]]);
      /** A round in which Kafka does not respond in time is followed by another. */
      const noted = (partitions: number) =>
        eventually(`${partitions} partitions are noted`, async () => {
          await reconciler.run();
          return isDeepStrictEqual([...(await topics.partitions())], [[DEFAULT_POOL, partitions]]);
        });
      await mirror.write({ ...BUILT_IN, pools: pool(PARTITIONS) });
      await noted(PARTITIONS);
      await mirror.write({ ...BUILT_IN, pools: pool(WORKERS) });
      await noted(WORKERS);
      const count = asked.length;
      await reconciler.run();
      assert.equal(asked.length, count, 'what has room enough is not asked about again');
      assert.deepEqual([...new Set(asked)], [PARTITIONS, WORKERS]);
      await busy(WORKERS);
      await mirror.write(BUILT_IN);
      await reconciler.run();
      assert.deepEqual([...(await topics.partitions())], [], 'a pool that is gone is forgotten');
    } finally {
      admitting = false;
      await load;
    }
    await eventually('no job is lost', () => new Set(claims()).size === admitted);
    assert.equal(claims().length, admitted, 'none is claimed twice');
  });

  it('gets no more than the maximum, and learns how many it has', async () => {
    const bus = await open({ maxPartitions: 3 });
    assert.equal(await bus.makeRoom('bounded', 40), 3);
    // A broker may report the number before for a moment.
    await eventually('they are there', async () => (await bus.makeRoom('bounded', 2)) === 3);
    const never = await open({ maxPartitions: 1 });
    assert.equal(await never.makeRoom('fixed', 40), PARTITIONS);
  });
});
