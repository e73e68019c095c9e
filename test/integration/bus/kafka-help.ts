import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { pino } from 'pino';
import type { Bus, JobPointer } from '../../../src/infra/bus/bus.ts';
import { createKafkaBus, type KafkaBusOptions } from '../../../src/infra/bus/kafka.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestKafka } from '../../support/kafka.ts';
import { lanesAt } from '../../support/lanes.ts';
import { pointer } from './contract.ts';
import type { RecordingConsumer } from './recording-consumer.ts';

const logger = pino({ level: process.env.PLATEN_TEST_LOG ?? 'silent' });

/** A client for what a bus does not do. */
export function client(kafka: TestKafka): Kafka {
  return new Kafka({ brokers: kafka.brokers, clientId: 'test', logLevel: logLevel.NOTHING });
}

/** A bus of one installation, whose topics and groups begin with the prefix. */
export function openBus(
  kafka: TestKafka,
  prefix: string,
  overrides: Partial<KafkaBusOptions> = {},
): Promise<Bus> {
  return createKafkaBus({
    brokers: kafka.brokers,
    clientId: 'platen-test',
    topicPrefix: prefix,
    lanes: lanesAt(prefix),
    sessionTimeoutMs: 3000,
    logger,
    ...overrides,
  });
}

/** Pointers of `count` jobs, each with its own routing key. */
export function manyJobs(count: number): JobPointer[] {
  return Array.from({ length: count }, (_, n) => pointer(`job-${String(n).padStart(4, '0')}`));
}

/** Resolves when every consumer has taken something lately: the group is in balance. */
export async function inBalance(
  bus: Bus,
  consumers: readonly RecordingConsumer[],
  rounds: number,
): Promise<void> {
  const balanced = async () => {
    for (const consumer of consumers) consumer.accepted.length = 0;
    await Promise.all(manyJobs(40).map((job) => bus.publishPointer(job)));
    await sleep(500);
    return consumers.every(({ accepted }) => accepted.length > 0);
  };
  for (let round = 0; round < rounds; round += 1) await eventually('the group finds its balance', balanced);
  for (const consumer of consumers) consumer.accepted.length = 0;
}

/** Resolves when each job has been accepted by one consumer or another. */
export async function arrived(
  jobs: readonly JobPointer[],
  consumers: readonly RecordingConsumer[],
): Promise<void> {
  const areTaken = () => {
    const taken = new Set(consumers.flatMap((consumer) => consumer.ids()));
    return jobs.every(({ jobId }) => taken.has(jobId));
  };
  await eventually(`${jobs.length} arrive`, areTaken);
}
