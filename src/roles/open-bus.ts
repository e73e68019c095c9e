import type { Config, JobRole } from '../config/config.ts';
import { SYSTEM_CA } from '../config/environment.ts';
import type { Bus } from '../infra/bus/bus.ts';
import { createInProcessBus } from '../infra/bus/in-process.ts';
import type { KafkaSecurity } from '../infra/bus/kafka/client.ts';
import { createKafkaBus } from '../infra/bus/kafka.ts';
import type { LaneDirectory } from '../infra/bus/lanes.ts';
import { readClientCertificate, readPem } from '../infra/store/client-certificate.ts';
import type { Logger } from '../infra/telemetry/logger.ts';

/**
 * Kafka between roles; within one process none is needed.
 *
 * @throws Error when a file that KAFKA_SSL_CA, KAFKA_SSL_CERT or KAFKA_SSL_KEY names cannot be read.
 */
export async function openBus(
  role: JobRole,
  config: Config,
  logger: Logger,
  lanes: LaneDirectory,
): Promise<Bus> {
  if (role === 'standalone' || config.KAFKA_BROKERS === undefined) return createInProcessBus({ logger });
  return createKafkaBus({
    brokers: config.KAFKA_BROKERS,
    clientId: `platen-${role}`,
    topicPrefix: config.PLATEN_KAFKA_TOPIC_PREFIX,
    lanes,
    replicationFactor: config.PLATEN_KAFKA_REPLICATION,
    logger,
    security: await kafkaSecurity(config),
  });
}

async function kafkaSecurity(config: Config): Promise<KafkaSecurity> {
  const { KAFKA_SSL_CA, KAFKA_SASL_MECHANISM: mechanism } = config;
  const { KAFKA_SASL_USERNAME: username = '', KAFKA_SASL_PASSWORD: password = '' } = config;
  const certificate = await readClientCertificate(config, 'KAFKA_SSL_CERT', 'KAFKA_SSL_KEY');
  return {
    ...(KAFKA_SSL_CA !== undefined && { tls: { ...(await trustedBy(KAFKA_SSL_CA)), ...certificate } }),
    ...(mechanism !== undefined && { sasl: { mechanism, username, password } }),
  };
}

async function trustedBy(path: string): Promise<KafkaSecurity['tls']> {
  return path === SYSTEM_CA ? {} : { ca: await readPem('KAFKA_SSL_CA', path) };
}
