import assert from 'node:assert/strict';
import kafkajs from 'kafkajs';
import { pino } from 'pino';
import type { Bus } from '../../../src/infra/bus/bus.ts';
import { isUnreadableBatch, UnreadableBatch } from '../../../src/infra/bus/kafka/compressed-batches.ts';
import { laneTopic } from '../../../src/infra/bus/kafka/topics.ts';
import { encodePointer } from '../../../src/infra/bus/messages.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { eventually } from '../../support/eventually.ts';
import { newPrefix, sharedKafka, type TestKafka } from '../../support/kafka.ts';
import { pointer } from './contract.ts';
import { arrived, client, manyJobs, openBus } from './kafka-help.ts';
import { RecordingConsumer } from './recording-consumer.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;
const MIB = 1024 * 1024;
const BOMB_BYTES = 200 * MIB;

describe('A compressed batch in a topic of pointers', () => {
  let kafka: TestKafka;
  let prefix: string;
  let bus: Bus;
  const lines: { msg: string; partitions?: number[] }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });

  before(async () => {
    kafka = await sharedKafka();
  });
  beforeEach(async () => {
    lines.length = 0;
    prefix = newPrefix();
    bus = await openBus(kafka, prefix, { logger });
    // The topics are made with the first pointer.
    await bus.publishPointer(pointer('first'));
  });
  afterEach(() => bus.close());

  /** Writes one batch to a partition, as whoever has the right to. */
  async function write(values: readonly (string | Buffer)[], partition = 0): Promise<void> {
    const producer = client(kafka).producer();
    await producer.connect();
    await producer.send({
      topic: laneTopic(prefix, DEFAULT_POOL, 'interactive'),
      compression: CompressionTypes.GZIP,
      messages: values.map((value) => ({ partition, value })),
    });
    await producer.disconnect();
  }

  it('is read when a broker or another writer has compressed what is no larger than usual', async () => {
    const jobs = manyJobs(20);
    await write(jobs.map(encodePointer));
    const consumer = new RecordingConsumer();
    await bus.consumePointers(DEFAULT_POOL, consumer);
    await arrived(jobs, [consumer]);
    assert.equal(bus.skips(), 0);
  });

  for (const [what, values] of [
    ['holds 200 MiB of nothing', () => [Buffer.alloc(BOMB_BYTES)]],
    ['holds 3,000 messages of a kilobyte', () => Array.from({ length: 3000 }, () => 'x'.repeat(1024))],
  ] as const) {
    it(`is skipped, not decompressed, when it ${what}, and later pointers arrive`, async () => {
      await write(values());
      const peak = watchMemory();
      const consumer = new RecordingConsumer();
      await bus.consumePointers(DEFAULT_POOL, consumer);
      await eventually('it is skipped', () => lines.some(({ msg }) => /messages are skipped/.test(msg)));
      await eventually('it consumes again', () => bus.problem() === undefined);
      const jobs = manyJobs(40);
      await Promise.all(jobs.map((job) => bus.publishPointer(job)));
      await arrived(jobs, [consumer]);
      assert.ok(peak() < 64 * MIB, `${Math.round(peak() / MIB)} MiB`);
      // It has got past it for good: the next of the group does not meet it.
      assert.equal(bus.skips(), 1);
      await bus.close();
      bus = await openBus(kafka, prefix, { logger });
      const next = new RecordingConsumer();
      await bus.consumePointers(DEFAULT_POOL, next);
      const more = [pointer('after the restart')];
      await Promise.all(more.map((job) => bus.publishPointer(job)));
      await arrived(more, [next]);
      assert.equal(bus.skips(), 0);
    });
  }

  it('is not read in another compression than gzip, and found among the causes of an end', () => {
    for (const type of [CompressionTypes.Snappy, CompressionTypes.LZ4, CompressionTypes.ZSTD] as const)
      assert.throws(() => CompressionCodecs[type](), UnreadableBatch);
    assert.ok(isUnreadableBatch(new Error('outer', { cause: new UnreadableBatch('inner') })));
    assert.ok(!isUnreadableBatch(new Error('another')));
  });
});

/** @returns a function that tells the most bytes outside of the heap, beyond those at the beginning. */
function watchMemory(): () => number {
  global.gc?.();
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 5);
  timer.unref();
  return () => most;
}
