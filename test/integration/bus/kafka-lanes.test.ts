import assert from 'node:assert/strict';
import { pino } from 'pino';
import type { Bus } from '../../../src/infra/bus/bus.ts';
import type { KafkaBusOptions } from '../../../src/infra/bus/kafka.ts';
import { laneOf } from '../../../src/infra/bus/lanes.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { eventually } from '../../support/eventually.ts';
import { newPrefix, sharedKafka, type TestKafka } from '../../support/kafka.ts';
import { lanesAt, type MemoryLanes } from '../../support/lanes.ts';
import { idsOf, pointer, problemGone } from './contract.ts';
import { arrived, client, manyJobs, openBus } from './kafka-help.ts';
import { RecordingConsumer } from './recording-consumer.ts';

/** Longer than a test may last. */
const SESSION_MS = 600_000;

describe('Lanes of workers, over Kafka', () => {
  let kafka: TestKafka;
  let prefix: string;
  let lanes: MemoryLanes;
  let opened: Bus[];
  /** Groups that were joined. A worker may join its own again, while the leaders of new topics are not known to all. */
  const joined = new Set<string>();
  const logger = pino(
    { level: 'trace' },
    {
      write(line: string) {
        const { msg, kafkajs } = JSON.parse(line);
        if (msg === 'Consumer has joined the group') joined.add(kafkajs.groupId);
      },
    },
  );

  before(async () => {
    kafka = await sharedKafka();
  });
  beforeEach(() => {
    prefix = newPrefix();
    lanes = lanesAt(prefix);
    opened = [];
    joined.clear();
  });
  afterEach(() => Promise.all(opened.map((bus) => bus.close())));

  async function open(overrides: Partial<KafkaBusOptions> = {}): Promise<Bus> {
    const bus = await openBus(kafka, prefix, { logger, sessionTimeoutMs: SESSION_MS, ...overrides });
    opened.push(bus);
    return bus;
  }

  async function startWorkers(count: number): Promise<RecordingConsumer[]> {
    const consumers: RecordingConsumer[] = [];
    for (let n = 0; n < count; n += 1) {
      const consumer = new RecordingConsumer();
      const bus = await open();
      await bus.consumePointers(DEFAULT_POOL, consumer);
      await problemGone(bus);
      consumers.push(consumer);
    }
    return consumers;
  }

  /** A publisher that has just begun, and so knows the lanes of the moment. */
  async function publishAll(count: number): Promise<ReturnType<typeof manyJobs>> {
    const jobs = manyJobs(count);
    const bus = await open();
    await Promise.all(jobs.map((job) => bus.publishPointer(job)));
    return jobs;
  }

  it('make no other worker join again when there is one more, and bring each pointer to its own', async () => {
    const consumers = await startWorkers(5);
    const groupOf = (lane: number) => `${prefix}.lanes.default.${lane}`;
    assert.deepEqual(joined, new Set([0, 1, 2, 3, 4].map(groupOf)));
    joined.clear();
    consumers.push(...(await startWorkers(1)));
    const jobs = await publishAll(200);
    await arrived(jobs, consumers);
    assert.deepEqual(joined, new Set([groupOf(5)]));
    for (const [lane, consumer] of consumers.entries()) {
      assert.equal(lanes.workersOf(DEFAULT_POOL).get(lane), consumer.worker);
      const own = jobs.filter(({ routingKey }) => laneOf(routingKey, [0, 1, 2, 3, 4, 5]) === lane);
      assert.deepEqual(consumer.ids(), idsOf(own));
    }
  });

  it('are as many as there are workers: topics get partitions as they are needed', async () => {
    const consumers = await startWorkers(18);
    const jobs = await publishAll(400);
    await arrived(jobs, consumers);
    assert.ok(consumers.every(({ accepted }) => accepted.length > 0));
    const admin = client(kafka).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [`${prefix}.lanes.default.bulk`] });
    await admin.disconnect();
    assert.equal(topics[0]!.partitions.length, 32);
  });

  it('are taken over with what is left in them, when another worker has been silent', async () => {
    const silent = new RecordingConsumer({ interactive: 0 });
    const bus = await open({ sessionTimeoutMs: 6000 });
    await bus.consumePointers(DEFAULT_POOL, silent);
    const jobs = await publishAll(20);
    await silent.until(() => silent.waiting('interactive') > 0);
    lanes.takeAway(DEFAULT_POOL, 0);
    const [next] = await startWorkers(1);
    await arrived(jobs, [next!]);
    // The first reads again, in another lane.
    await eventually('it has another lane', () => lanes.workersOf(DEFAULT_POOL).get(1) === silent.worker);
    silent.free('interactive', 1000);
    await eventually('it is read', async () => (await lanes.lanesOf(DEFAULT_POOL)).lanes.includes(1));
    const more = await publishAll(40);
    await arrived(more, [next!, silent]);
    assert.ok(silent.accepted.length > 0);
  });

  it('are known to publishers by what they last read, while the directory does not respond', async () => {
    const consumers = await startWorkers(3);
    const bus = await open();
    await bus.publishPointer(pointer('before'));
    lanes.problem = new Error('the database is away');
    const jobs = manyJobs(60);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await Promise.all(jobs.map((job) => bus.publishPointer(job)));
    await arrived(jobs, consumers);
    lanes.problem = undefined;
    assert.ok(consumers.every(({ accepted }) => accepted.length > 5));
  });

  it('get pointers that wait elsewhere only while their workers have free slots, and as many', async () => {
    const busy = new RecordingConsumer();
    const bus = await open();
    await bus.consumePointers(DEFAULT_POOL, busy);
    await problemGone(bus);
    assert.equal(await bus.offerPointer(pointer('alone')), false, 'its own worker is no other');
    const idle = await startWorkers(2);
    lanes.free = 3;
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const offers: boolean[] = [];
    for (const job of manyJobs(8)) offers.push(await bus.offerPointer(job));
    assert.equal(offers.filter((sent) => sent).length, 6);
    await arrived(manyJobs(6), idle);
    assert.deepEqual(busy.ids(), []);
  });

  it('of a pool whose workers are of an earlier version are left aside', async () => {
    const bus = await open();
    const seen: (string | undefined)[] = [];
    const admin = client(kafka).admin();
    await admin.connect();
    await admin.createTopics({
      topics: [{ topic: `${prefix}.renders.default.interactive`, numPartitions: 3 }],
    });
    await admin.disconnect();
    lanes.lanesOf = async () => ({ lanes: [], earlier: true });
    const consumer = client(kafka).consumer({ groupId: `${prefix}-workers.default.interactive` });
    await consumer.connect();
    await consumer.subscribe({ topic: `${prefix}.renders.default.interactive`, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message }) => void seen.push(JSON.parse(String(message.value)).jobId),
    });
    try {
      await bus.publishPointer(pointer('for an earlier worker'));
      await eventually('it arrives', () => seen.length > 0);
    } finally {
      await consumer.disconnect();
    }
    assert.deepEqual(seen, ['for an earlier worker']);
  });
});
