import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Bus } from '../../../src/infra/bus/bus.ts';
import type { KafkaBusOptions } from '../../../src/infra/bus/kafka.ts';
import { DEFAULT_POOL } from '../../../src/tenants/plans/names.ts';
import { eventually } from '../../support/eventually.ts';
import { newPrefix, startKafka, type TestKafka } from '../../support/kafka.ts';
import { procFile } from '../../support/processes.ts';
import { Heard, pointer, pointersOf, problemGone } from './contract.ts';
import { arrived, manyJobs, openBus } from './kafka-help.ts';
import { RecordingConsumer } from './recording-consumer.ts';

const dyingWorker = fileURLToPath(new URL('../../support/dying-worker.ts', import.meta.url));

describe('The Kafka bus, after a failure', () => {
  let kafka: TestKafka;
  let prefix: string;
  let opened: Bus[];

  before(async () => {
    kafka = await startKafka();
  });
  after(() => kafka?.stop());
  beforeEach(() => {
    prefix = newPrefix();
    opened = [];
  });
  afterEach(() => Promise.all(opened.map((bus) => bus.close())));

  async function open(overrides: Partial<KafkaBusOptions> = {}): Promise<Bus> {
    const bus = await openBus(kafka, prefix, overrides);
    opened.push(bus);
    return bus;
  }

  for (const [how, awayMs] of [
    ['killed, and back at once', 0],
    ['stopped in good order for 6 s', 6000],
    ['killed for 20 s', 20_000],
  ] as const) {
    it(`recovers by itself after the broker was ${how}`, async () => {
      const bus = await open();
      const consumer = new RecordingConsumer();
      const heard = new Heard();
      await bus.consumePointers(DEFAULT_POOL, consumer);
      await bus.subscribeEvents('outcomes', heard.hear);
      await bus.publishPointer(pointer('before'));
      await consumer.until(() => consumer.accepted.length === 1);

      if (how.startsWith('killed')) await kafka.kill();
      else await kafka.halt();
      const during = Promise.allSettled(manyJobs(20).map((job) => bus.publishPointer(job)));
      if (awayMs > 0) {
        await sleep(awayMs);
        assert.match(bus.problem() ?? '', /^Kafka: /);
      }
      await kafka.restart();
      await problemGone(bus);
      await publishUntilAccepted(bus, 'after', consumer);
      await succeeds('it is heard', async () => {
        await bus.publishEvent({ jobId: 'after', kind: 'ended', to: bus.address });
        await heard.until(1, 300);
      });

      // Each was published, or reported to its publisher as failed.
      const outcomes = await during;
      const published = manyJobs(20).filter((_, n) => outcomes[n]!.status === 'fulfilled');
      await arrived(published, [consumer]);
    });
  }

  it('makes the topics of a pool whose first pointers and whose worker came while the broker was away', async () => {
    const bus = await open({ publishTimeoutMs: 60_000 });
    await bus.publishPointer(pointer('before'));
    await kafka.kill();
    const jobs = pointersOf('new', 20);
    const published = Promise.all(jobs.map((job) => bus.publishPointer(job)));
    const consumer = new RecordingConsumer();
    await bus.consumePointers('new', consumer);
    await sleep(3000);
    await kafka.restart();
    await published;
    await arrived(jobs, [consumer]);
    await problemGone(bus);
  });

  it('recovers when the broker comes back without its data', async () => {
    const bus = await open();
    const consumer = new RecordingConsumer();
    await bus.consumePointers(DEFAULT_POOL, consumer);
    await bus.publishPointer(pointer('before'));
    await consumer.until(() => consumer.accepted.length === 1);
    const port = Number(kafka.brokers[0]!.split(':')[1]);
    await kafka.stop();
    kafka = await startKafka({ port });
    await publishUntilAccepted(bus, 'after', consumer);
  });

  it('notices a broker that hangs, and recovers when it responds again', async () => {
    const bus = await open();
    const consumer = new RecordingConsumer();
    await bus.consumePointers(DEFAULT_POOL, consumer);
    await bus.publishPointer(pointer('before'));
    await consumer.until(() => consumer.accepted.length === 1);
    await problemGone(bus);

    process.kill(kafka.pid, 'SIGSTOP');
    // Its threads may run for a moment longer, and one of them may take a pointer.
    const isStopped = () => / T /.test(procFile(kafka.pid, 'stat'));
    await eventually('it has stopped', isStopped);
    try {
      // It does not wait for ever.
      await assert.rejects(bus.publishPointer(pointer('stuck')));
      assert.match(bus.problem() ?? '', /^Kafka: /);
    } finally {
      process.kill(kafka.pid, 'SIGCONT');
    }
    await problemGone(bus);
    await publishUntilAccepted(bus, 'after', consumer);
  });

  it('redelivers what a killed worker had not taken, and loses nothing', async () => {
    const bus = await open();
    const jobs = manyJobs(40);
    await Promise.all(jobs.map((job) => bus.publishPointer(job)));
    const worker = spawn(process.execPath, [dyingWorker, kafka.brokers.join(), prefix, '10'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const taken: string[] = [];
    for await (const line of createInterface({ input: worker.stdout })) {
      if (line !== 'waiting') taken.push(line);
      if (taken.length === 10) break;
    }
    worker.kill('SIGKILL');
    await once(worker, 'exit');

    const consumer = new RecordingConsumer();
    await bus.consumePointers(DEFAULT_POOL, consumer);
    const missing = jobs.filter(({ jobId }) => !taken.includes(jobId));
    assert.equal(missing.length, 30);
    await arrived(missing, [consumer]);
  });
});

/** Publishes again what was not accepted, as the sweep does. */
async function publishUntilAccepted(bus: Bus, jobId: string, consumer: RecordingConsumer): Promise<void> {
  await succeeds('it is taken', async () => {
    await bus.publishPointer(pointer(jobId)).catch(() => {});
    await consumer.until(() => consumer.ids().includes(jobId), 1000);
  });
}

/** Resolves once the work does not fail any more. */
function succeeds(what: string, work: () => Promise<void>): Promise<void> {
  const succeeded = () =>
    work().then(
      () => true,
      () => false,
    );
  return eventually(what, succeeded);
}
