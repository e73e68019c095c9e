import assert from 'node:assert/strict';
import kafkajs from 'kafkajs';
import { laneTopic } from '../../src/infra/bus/kafka/topics.ts';
import { DEFAULT_POOL } from '../../src/tenants/plans/names.ts';
import { eventually } from '../support/eventually.ts';
import { newPrefix, sharedKafka } from '../support/kafka.ts';
import { procFile } from '../support/processes.ts';
import { openKafkaService, type TestService } from '../support/service.ts';

const { CompressionTypes, Kafka, logLevel } = kafkajs;
const MIB = 1024 * 1024;
const BOMB = Buffer.alloc(200 * MIB);

describe('a worker whose topic holds a batch that is large when decompressed', () => {
  let service: TestService;
  let prefix: string;

  before(async () => {
    prefix = newPrefix();
    service = await openKafkaService({ PLATEN_KAFKA_TOPIC_PREFIX: prefix });
  });
  after(() => service?.stop());

  it('does not decompress it, renders on, and counts that', async () => {
    const { client } = await service.newTenant('business');
    assert.equal((await client.renderToEnd({ html: '<p>before</p>' })).status, 200);
    const worker = service.roles.get('worker')!;
    const before = peakBytes(worker.pid);
    const { brokers } = await sharedKafka();
    const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    await producer.send({
      topic: laneTopic(prefix, DEFAULT_POOL, 'interactive'),
      compression: CompressionTypes.GZIP,
      messages: [{ partition: 0, value: BOMB }],
    });
    await producer.disconnect();
    await worker.logged(({ msg }) => msg === 'messages are skipped: a batch among them cannot be read');
    assert.equal((await client.renderToEnd({ html: '<p>after</p>' })).status, 200);
    const grown = peakBytes(worker.pid) - before;
    assert.ok(grown < BOMB.length / 2, `${Math.round(grown / MIB)} MiB`);
    await eventually('it is counted', async () =>
      /^platen_bus_skips_total\{role="worker"\} 1$/m.test(await service.metrics()),
    );
  });
});

/** The most memory that a process has had at once. */
function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(procFile(pid, 'status'))![1]) * 1024;
}
