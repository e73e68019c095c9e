import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Partitioners } from 'kafkajs';
import type { Bus } from '../../../src/infra/bus/bus.ts';
import type { KafkaBusOptions } from '../../../src/infra/bus/kafka.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { eventually } from '../../support/eventually.ts';
import { newPrefix, sharedKafka, startKafka, type TestKafka } from '../../support/kafka.ts';
import { freePort } from '../../support/ports.ts';
import {
  describeBusContract,
  Heard,
  idsOf,
  pointer,
  pointersOf,
  problemGone,
  subscribe,
} from './contract.ts';
import { arrived, client, inBalance, manyJobs, openBus } from './kafka-help.ts';
import { RecordingConsumer } from './recording-consumer.ts';

/** Longer than a test may last. */
const SESSION_MS = 600_000;

/** Parts of kafkajs that it does not export: what asks brokers where a topic ends, and their errors. */
const require = createRequire(import.meta.url);
const { prototype: cluster } = require('kafkajs/src/cluster') as {
  prototype: { fetchTopicsOffset(topics: unknown): Promise<unknown> };
};
const { createErrorFromCode } = require('kafkajs/src/protocol/error') as {
  createErrorFromCode(code: number): Error;
};
const NOT_LEADER_FOR_PARTITION = 6;

describe('The Kafka bus', () => {
  let kafka: TestKafka;
  let prefix: string;
  let opened: Bus[];

  before(async () => {
    kafka = await sharedKafka();
  });

  beforeEach(() => {
    prefix = newPrefix();
    opened = [];
  });

  afterEach(() => Promise.all(opened.map((bus) => bus.close())));

  /** Buses opened in one test belong to one installation. */
  async function open(overrides: Partial<KafkaBusOptions> = {}): Promise<Bus> {
    const bus = await openBus(kafka, prefix, overrides);
    opened.push(bus);
    return bus;
  }

  describeBusContract('kafka', () => ({
    open: () => {
      prefix = newPrefix();
      // A consumer that Kafka takes for gone is delivered to again: no machine stands still for so long.
      return open({ sessionTimeoutMs: SESSION_MS });
    },
    quietMs: 1000,
    newPools: 3,
  }));

  it('creates its topics, though several processes do so at once', async () => {
    const buses = await Promise.all([1, 2, 3, 4].map(() => open()));
    await Promise.all(buses.map((bus, n) => bus.publishPointer(pointer(`job-${n}`))));
    await buses[0]!.publishEvent({ jobId: 'job-0', kind: 'ended', to: buses[0]!.address });
    const admin = client(kafka).admin();
    await admin.connect();
    const expected = [
      `${prefix}.events.cancels: 1`,
      `${prefix}.events.replies: 64`,
      `${prefix}.lanes.default.bulk: 16`,
      `${prefix}.lanes.default.interactive: 16`,
    ];
    let made: string[] = [];
    // A broker knows new topics of the controller a moment after the client that has made them.
    await eventually('all topics are known', async () => {
      const { topics } = await admin.fetchTopicMetadata();
      made = topics
        .filter(({ name }) => name.startsWith(prefix))
        .map(({ name, partitions }) => `${name}: ${partitions.length}`)
        .sort();
      return made.length >= expected.length;
    });
    await admin.disconnect();
    assert.deepEqual(made, expected);
  });

  it('makes the topics of a new pool though its worker and three publishers begin at once, under load', async () => {
    const buses = await Promise.all([1, 2, 3].map(() => open()));
    const busy = new RecordingConsumer();
    await buses[0]!.consumePointers('busy', busy);
    await buses[0]!.publishPointer({ ...pointer('first'), pool: 'busy' });
    await busy.until(() => busy.accepted.length === 1);
    let loading = true;
    let loaded = 0;
    const load = (async () => {
      for (; loading; loaded += 1) {
        await buses[loaded % 2]!.publishPointer({ ...pointer(`load-${loaded}`), pool: 'busy' });
        await sleep(5);
      }
    })();
    for (let n = 0; n < 5; n += 1) {
      const pool = `new-${n}`;
      const jobs = pointersOf(pool, 60);
      const worker = await open();
      const consumer = new RecordingConsumer();
      // The first client makes the topics; the worker is sometimes early and sometimes late.
      const consuming = sleep(n * 40).then(() => worker.consumePointers(pool, consumer));
      await Promise.all(jobs.map((job, k) => buses[k % 3]!.publishPointer(job)));
      await consuming;
      await arrived(jobs, [consumer]);
      assert.deepEqual(consumer.ids(), idsOf(jobs));
    }
    loading = false;
    await load;
    const expected = Array.from({ length: loaded }, (_, n) => `load-${n}`);
    await busy.until(() => new Set(busy.ids()).size > expected.length);
    assert.deepEqual(busy.ids(), ['first', ...expected].sort());
  });

  it('continues with the other pools when the topics of one cannot be made', async () => {
    const bus = await open({ publishTimeoutMs: 4000 });
    const consumer = new RecordingConsumer();
    await bus.consumePointers('sound', consumer);
    // No broker takes a topic with such a name, and no plan can name such a pool.
    const lost = assert.rejects(
      bus.publishPointer({ ...pointer('lost'), pool: 'not a pool!' }),
      (error: Error) => {
        assert.match(error.message, /in time/);
        assert.match(String((error.cause as Error).message), /topic|creat/i);
        return true;
      },
    );
    const jobs = pointersOf('sound', 100);
    await Promise.all(jobs.map((job) => bus.publishPointer(job)));
    await arrived(jobs, [consumer]);
    await lost;
    await problemGone(bus);
  });

  it('makes the topics of a pool again when they are gone, though it has no consumer', async () => {
    const bus = await open({ publishTimeoutMs: 20_000 });
    await bus.publishPointer({ ...pointer('before'), pool: 'gone' });
    const admin = client(kafka).admin();
    await admin.connect();
    const names = ['interactive', 'bulk'].map((jobClass) => `${prefix}.lanes.gone.${jobClass}`);
    await admin.deleteTopics({ topics: names });
    await eventually('the topics are gone', async () => {
      const left = await admin.listTopics();
      return names.every((name) => !left.includes(name));
    });
    await admin.disconnect();
    await bus.publishPointer({ ...pointer('after'), pool: 'gone' });
    const consumer = new RecordingConsumer();
    await bus.consumePointers('gone', consumer);
    await consumer.until(() => consumer.accepted.length > 0);
    assert.deepEqual(consumer.ids(), ['after']);
  });

  it('brings cancels to every process, and outcomes to the one to which they are sent', async () => {
    const buses = await Promise.all([1, 2, 3].map((n) => open({ random: () => n / 64 })));
    const heard = await Promise.all(
      buses.map(async (bus) => {
        const [outcomes, cancels] = [new Heard(), new Heard()];
        await subscribe(bus, 'outcomes', outcomes.hear);
        await subscribe(bus, 'cancels', cancels.hear);
        return { outcomes, cancels };
      }),
    );
    const [first] = buses as [Bus];
    await first.publishEvent({ jobId: 'nobody', kind: 'ended' });
    for (const [n, { address }] of buses.entries()) {
      await first.publishEvent({ jobId: `job-${n}`, kind: 'ended', to: address });
      await first.publishEvent({ jobId: `job-${n}`, kind: 'cancelled' });
    }
    for (const [n, { outcomes, cancels }] of heard.entries()) {
      await outcomes.until(1);
      await cancels.until(3);
      assert.deepEqual(outcomes.events, [{ jobId: `job-${n}`, kind: 'ended' }]);
      assert.deepEqual(cancels.events.map(({ jobId }) => jobId).sort(), ['job-0', 'job-1', 'job-2']);
    }
  });

  it('does not repeat old events to a process that has just started', async () => {
    // Of the same address.
    const random = () => 0.5;
    const first = await open({ random });
    const early = new Heard();
    await subscribe(first, 'outcomes', early.hear);
    await first.publishEvent({ jobId: 'old', kind: 'ended', to: first.address });
    await early.until(1);
    const late = new Heard();
    await subscribe(await open({ random }), 'outcomes', late.hear);
    await first.publishEvent({ jobId: 'new', kind: 'ended', to: first.address });
    await late.until(1);
    assert.deepEqual(late.events, [{ jobId: 'new', kind: 'ended' }]);
  });

  it('receives events as soon as it names no problem, though the leader of a new topic knew it late', async () => {
    const { fetchTopicsOffset } = cluster;
    let asked = 0;
    cluster.fetchTopicsOffset = async function (topics) {
      asked += 1;
      if (asked === 1) throw createErrorFromCode(NOT_LEADER_FOR_PARTITION);
      // Time for an event that is published too soon to be among those before the beginning.
      await sleep(1000);
      return fetchTopicsOffset.call(this, topics);
    };
    try {
      const bus = await open({ sessionTimeoutMs: SESSION_MS });
      const heard = new Heard();
      await subscribe(bus, 'outcomes', heard.hear);
      await bus.publishEvent({ jobId: 'one', kind: 'ended', to: bus.address });
      await heard.until(1);
      assert.equal(asked, 2);
    } finally {
      cluster.fetchTopicsOffset = fetchTopicsOffset;
    }
  });

  it('skips what is no pointer, and continues', async () => {
    const bus = await open();
    const consumer = new RecordingConsumer();
    await bus.consumePointers(DEFAULT_POOL, consumer);
    await bus.publishPointer({ ...pointer('before'), routingKey: 'one' });
    const producer = client(kafka).producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const rubbish = [
      ...['not json', '{}', 'null', '[]', '{"jobId":7}', ''],
      JSON.stringify({ ...pointer('wrong-class', 'bulk') }),
      JSON.stringify({ ...pointer('no-version'), version: 'x' }),
      JSON.stringify({ ...pointer('no-pool'), pool: undefined }),
      JSON.stringify({ ...pointer('wrong-pool'), pool: 'other' }),
    ];
    await producer.send({
      topic: `${prefix}.lanes.default.interactive`,
      messages: [...rubbish, null].map((value) => ({ partition: 0, value })),
    });
    await producer.disconnect();
    await bus.publishPointer({ ...pointer('after'), routingKey: 'one' });
    await consumer.until(() => consumer.accepted.length === 2);
    assert.deepEqual(
      consumer.accepted.map(({ jobId }) => jobId),
      ['before', 'after'],
    );
  });

  it('shares the work between two consumers of a pool', async () => {
    const [first, second] = [new RecordingConsumer(), new RecordingConsumer()];
    const buses = [await open(), await open()];
    await buses[0]!.consumePointers(DEFAULT_POOL, first);
    await buses[1]!.consumePointers(DEFAULT_POOL, second);
    await inBalance(buses[0]!, [first, second], 2);

    const jobs = manyJobs(100);
    await Promise.all(jobs.map((job) => buses[0]!.publishPointer(job)));
    await arrived(jobs, [first, second]);
    assert.ok(first.accepted.length > 10, `the first took ${first.accepted.length}`);
    assert.ok(second.accepted.length > 10, `the second took ${second.accepted.length}`);
  });

  it('keeps what a consumer has left in its lane for the next one', async () => {
    const [first, second] = [new RecordingConsumer({ interactive: 0 }), new RecordingConsumer()];
    // A member that does not announce its leave delays the group for the session, longer than this test may last.
    const [one, two] = [
      await open({ sessionTimeoutMs: SESSION_MS }),
      await open({ sessionTimeoutMs: SESSION_MS }),
    ];
    const subscription = await one.consumePointers(DEFAULT_POOL, first);
    const jobs = manyJobs(20);
    await Promise.all(jobs.map((job) => two.publishPointer(job)));
    await first.until(() => first.waiting('interactive') > 0);
    await subscription.stop();
    await two.consumePointers(DEFAULT_POOL, second);
    await second.until(() => second.ids().length === 20);
    assert.equal(first.accepted.length, 0);
  });

  it('goes on reading its lane while it waits for a slot, for longer than the session', async () => {
    const consumer = new RecordingConsumer({ interactive: 0 });
    const bus = await open({ sessionTimeoutMs: 5000 });
    await bus.consumePointers(DEFAULT_POOL, consumer);
    await bus.publishPointer(pointer('patient'));
    await consumer.until(() => consumer.waiting('interactive') === 1);
    const admin = client(kafka).admin();
    await admin.connect();
    const members = async () => {
      const { groups } = await admin.describeGroups([`${prefix}.lanes.default.0`]);
      return groups[0]!.members.map(({ memberId }) => memberId);
    };
    const before = await members();
    await sleep(8000);
    assert.equal(before.length, 1);
    assert.deepEqual(await members(), before);
    assert.equal(consumer.waiting('interactive'), 1, 'it waits without interruption');
    await admin.disconnect();
    consumer.free('interactive', 1);
    await consumer.until(() => consumer.accepted.length === 1);
  });

  it('starts without a broker, and works when there is one', async () => {
    // It is there before the broker is.
    const port = await freePort();
    const bus = await open({ brokers: [`127.0.0.1:${port}`], publishTimeoutMs: 30_000 });
    const consumer = new RecordingConsumer();
    const heard = new Heard();
    await bus.subscribeEvents('outcomes', heard.hear);
    await bus.consumePointers(DEFAULT_POOL, consumer);
    assert.match(bus.problem() ?? '', /^Kafka: /);

    const published = bus.publishPointer(pointer('early'));
    const late = await startKafka({ port });
    await published;
    await consumer.until(() => consumer.accepted.length === 1);
    await problemGone(bus);
    await bus.publishEvent({ jobId: 'early', kind: 'ended', to: bus.address });
    await heard.until(1);
    await bus.close();
    await late.stop();
  });

  it('rejects within a bounded time what cannot be published, and closes without a broker', async () => {
    const bus = await open({ brokers: [`127.0.0.1:${await freePort()}`], publishTimeoutMs: 2000 });
    await assert.rejects(bus.publishPointer(pointer('lost')));
    await bus.close();
  });
});
