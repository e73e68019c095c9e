import { readFile } from 'node:fs/promises';
import type { Bus } from '../bus/bus.ts';
import { createInProcessBus } from '../bus/in-process.ts';
import type { KafkaSecurity } from '../bus/kafka/client.ts';
import { createKafkaBus } from '../bus/kafka.ts';
import { type Config, type JobRole, SYSTEM_CA } from '../config.ts';
import type { Logger } from '../telemetry/logger.ts';

/**
 * Kafka between roles; within one process none is needed.
 *
 * @throws Error when the file that KAFKA_SSL_CA names cannot be read.
 */
export async function openBus(role: JobRole, config: Config, logger: Logger): Promise<Bus> {
  if (role === 'standalone' || config.KAFKA_BROKERS === undefined) return createInProcessBus({ logger });
  return createKafkaBus({
    brokers: config.KAFKA_BROKERS,
    clientId: `platen-${role}`,
    consumerGroup: `${config.PLATEN_KAFKA_TOPIC_PREFIX}-workers`,
    topicPrefix: config.PLATEN_KAFKA_TOPIC_PREFIX,
    partitions: config.PLATEN_KAFKA_PARTITIONS,
    replicationFactor: config.PLATEN_KAFKA_REPLICATION,
    logger,
    security: await kafkaSecurity(config),
  });
}

async function kafkaSecurity(config: Config): Promise<KafkaSecurity> {
  const { KAFKA_SSL_CA, KAFKA_SASL_MECHANISM: mechanism } = config;
  const { KAFKA_SASL_USERNAME: username = '', KAFKA_SASL_PASSWORD: password = '' } = config;
  return {
    ...(KAFKA_SSL_CA !== undefined && { tls: await trustedBy(KAFKA_SSL_CA) }),
    ...(mechanism !== undefined && { sasl: { mechanism, username, password } }),
  };
}

async function trustedBy(path: string): Promise<KafkaSecurity['tls']> {
  if (path === SYSTEM_CA) return {};
  try {
    return { ca: await readFile(path, 'utf8') };
  } catch (error) {
    throw new Error(`KAFKA_SSL_CA ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
