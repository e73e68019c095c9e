import type { Bus } from '../bus/bus.ts';
import { createInProcessBus } from '../bus/in-process.ts';
import { createKafkaBus } from '../bus/kafka.ts';
import type { Config, Role } from '../config.ts';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../store/embedded/start-embedded.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { createTemplateEngine, type TemplateEngine } from '../templates/engine/template-engine.ts';
import { startApiPart, startOpsServer } from './api-part.ts';
import { bootstrapAccount } from './bootstrap-account.ts';
import { startDispatcherPart } from './dispatcher-part.ts';
import { healthOf } from './health.ts';
import type { Part } from './part.ts';
import { openPlatform, type Platform } from './platform.ts';
import { announceDatabase, firstAccount, standaloneSecret } from './standalone-data.ts';
import { startWorkerPart } from './worker-part.ts';

/** Templates are CPU-bound; two processes keep one long render or preview from standing before all others. */
const TEMPLATE_PROCESSES = 2;

export interface RunningRole {
  readonly port: number;
  readonly logger: Logger;
  /** Standalone without a bootstrap account: where the first key is kept, and the key if it is new. */
  readonly firstKey: { keyFile: string; madeKey: string | undefined } | undefined;
  stop(): Promise<void>;
}

/**
 * Starts a role; when it resolves the role can take work. What was started is stopped again if a later step fails.
 *
 * @param onLost told when something has ended that the role cannot do without; it is not stopped by that alone.
 */
export async function runRole(
  role: Role,
  config: Config,
  onLost: (error: Error) => void,
): Promise<RunningRole> {
  const opened: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    return await start(role, config, opened, stop, onLost);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  role: Role,
  config: Config,
  opened: (() => Promise<void>)[],
  stop: () => Promise<void>,
  onLost: (error: Error) => void,
): Promise<RunningRole> {
  const standalone = role === 'standalone';
  const secret = config.PLATEN_SECRET ?? (await standaloneSecret(config.PLATEN_DATA_DIR));
  const embedded = config.MONGODB_URI === undefined ? await openEmbedded(config, opened, onLost) : undefined;
  const uri = config.MONGODB_URI ?? embedded!.uri;
  const platform = await openPlatform(
    role,
    config,
    uri,
    (logger) => openBus(role, config, logger),
    () => embedded?.problem(),
  );
  opened.push(() => platform.close());

  const parts: Part[] = [];
  const health = healthOf(platform, parts);
  const add = <P extends Part>(part: P): P => {
    parts.push(part);
    opened.push(() => part.stop());
    return part;
  };
  if (standalone || role === 'api') await bootstrapAccount(platform, config);
  const firstKey =
    standalone && config.PLATEN_BOOTSTRAP_EMAIL === undefined ? await firstAccount(platform) : undefined;
  const templateEngine = sharedTemplateEngine(platform.logger, opened);
  if (standalone || role === 'dispatcher') add(startDispatcherPart(platform));
  if (standalone || role === 'worker') add(await startWorkerPart(platform, templateEngine()));
  const server =
    standalone || role === 'api'
      ? await startApiPart(platform, secret, templateEngine(), health)
      : await startOpsServer(platform, health);
  add(server);
  return { port: server.port, logger: platform.logger, firstKey, stop };
}

/** One engine for all parts of the process: started for the first that asks, closed after the last of them. */
function sharedTemplateEngine(logger: Logger, opened: (() => Promise<void>)[]): () => TemplateEngine {
  let engine: TemplateEngine | undefined;
  return () => {
    if (engine === undefined) {
      const started = createTemplateEngine({ processes: TEMPLATE_PROCESSES, logger });
      opened.push(() => started.close());
      engine = started;
    }
    return engine;
  };
}

async function openEmbedded(
  config: Config,
  opened: (() => Promise<void>)[],
  onLost: (error: Error) => void,
): Promise<EmbeddedDatabase> {
  const logger = createLogger({ level: config.PLATEN_LOG_LEVEL, role: 'standalone', instance: 'database' });
  const database = await startEmbeddedDatabase({
    dataDir: config.PLATEN_DATA_DIR,
    logger,
    jarsDir: config.PLATEN_EMBEDDED_JARS,
  });
  let closing = false;
  opened.push(() => {
    closing = true;
    return database.close();
  });
  void database.ended.then((how) => {
    if (!closing) onLost(new Error(`the embedded database (process ${database.pid}) has ended with ${how}`));
  });
  opened.push(await announceDatabase(config.PLATEN_DATA_DIR, database.uri));
  return database;
}

function openBus(role: Role, config: Config, logger: Logger): Bus | Promise<Bus> {
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

export type { Platform };
