import type { Bus } from '../bus/bus.ts';
import { createInProcessBus } from '../bus/in-process.ts';
import { createKafkaBus } from '../bus/kafka.ts';
import type { Config, JobRole } from '../config.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Kafka between roles; within one process none is needed. */
export function openBus(role: JobRole, config: Config, logger: Logger): Bus | Promise<Bus> {
  if (role === 'standalone' || config.KAFKA_BROKERS === undefined) return createInProcessBus({ logger });
  return createKafkaBus({
    brokers: config.KAFKA_BROKERS,
    clientId: `platen-${role}`,
    consumerGroup: `${config.PLATEN_KAFKA_TOPIC_PREFIX}-workers`,
    topicPrefix: config.PLATEN_KAFKA_TOPIC_PREFIX,
    partitions: config.PLATEN_KAFKA_PARTITIONS,
    replicationFactor: config.PLATEN_KAFKA_REPLICATION,
    logger,
  });
}
