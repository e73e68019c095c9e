import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GuardedProcess, startGuarded } from '../../src/infra/embedded-database/guarded-process.ts';
import { killProcess } from '../../src/render/chromium/process/processes.ts';
import { HUNG_MS } from './eventually.ts';
import { formatWithUser, type KafkaUser, type Properties, secureListener } from './kafka-security.ts';
import { freePort } from './ports.ts';

const peer = fileURLToPath(new URL('../../.cache/peers/kafka', import.meta.url));

interface KafkaOptions {
  readonly host?: string;
  readonly port?: number;
  readonly dataDir?: string;
  readonly secured?: KafkaUser;
}

export interface TestKafka {
  readonly brokers: string[];
  /** Of a secured broker: PEM of the authority that signed its certificate. */
  readonly caFile: string | undefined;
  /** The addresses at which a secured broker requires the certificate `CLIENT` of certificates.ts, and no user. */
  readonly mutualBrokers: string[];
  /** Of the broker that runs at present. */
  readonly pid: number;
  /** Stops the broker in order, keeping port and data for `restart`. */
  halt(): Promise<void>;
  /** Ends it as a power cut would, keeping port and data for `restart`. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data, after ending a running one. */
  restart(): Promise<void>;
  /** Ends it for good, and removes its data unless the caller named the folder. */
  stop(): Promise<void>;
}

/**
 * Starts a real Kafka broker, by default on loopback, ready for clients when this resolves. It ends with this process,
 * for any reason.
 *
 * @param options.host address of this machine by which clients know it; it then listens on every one.
 * @param options.port default a free one.
 * @param options.dataDir default a folder that is removed by `stop`.
 * @param options.secured requires clients to use TLS and this user, by every mechanism of SASL.
 */
export async function startKafka(options: KafkaOptions = {}): Promise<TestKafka> {
  if (!existsSync(join(peer, 'java.args'))) {
    throw new Error('Kafka is not installed: `node scripts/install-peers.mjs kafka` does it.');
  }
  const { host = '127.0.0.1', port = await freePort() } = options;
  const controllerPort = await freePort();
  const folder = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'platen-kafka-')));
  await mkdir(join(folder, 'log'), { recursive: true });
  const config = join(folder, 'server.properties');
  const plain = serverProperties(host, port, controllerPort, join(folder, 'log'));
  const secured = options.secured && (await secureListener({ ...options.secured, folder, port }));
  await writeFile(config, asText({ ...plain, ...secured?.properties(plain) }));
  if (options.secured !== undefined) await formatWithUser(peer, config, options.secured);
  let broker: GuardedProcess | undefined = await startBroker(config);

  const end = async (how: (running: GuardedProcess) => void) => {
    const running = broker;
    broker = undefined;
    if (running === undefined) return;
    how(running);
    await running.ended;
  };
  const halt = () => end((running) => running.send('stop\n'));
  return {
    brokers: [`${host}:${port}`],
    caFile: secured?.caFile,
    mutualBrokers: secured?.mutualBrokers ?? [],
    get pid() {
      if (broker === undefined) throw new Error('The broker is not running.');
      return broker.pid;
    },
    halt,
    kill: () => end((running) => killProcess(running.pid)),
    restart: async () => {
      await halt();
      broker = await startBroker(config);
    },
    stop: async () => {
      // Its data is of no more use, so an orderly shutdown is not needed.
      await end((running) => killProcess(running.pid));
      if (options.dataDir === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

let shared: Promise<TestKafka> | undefined;

/**
 * The one broker that all tests of this process share which do not end it: each takes a prefix of its own for its topics and
 * groups (`newPrefix`). The root hook below ends it.
 */
export function sharedKafka(): Promise<TestKafka> {
  shared ??= startKafka();
  return shared;
}

/** A unique prefix of topics and groups. */
export function newPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

// A root hook: mocha runs it after the last test of the last file.
if (typeof after === 'function') after(async () => (await shared)?.stop());

async function startBroker(config: string): Promise<GuardedProcess> {
  const archive = existsSync(join(peer, 'classes.jsa')) ? ['-XX:SharedArchiveFile=classes.jsa'] : [];
  const broker = await startGuarded('java', ['@java.args', ...archive, 'TestBroker', config], { cwd: peer });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      killProcess(broker.pid);
      reject(new Error(`Kafka did not start in time: ${broker.output.stderr}`));
    }, HUNG_MS);
    broker.onLine((line) => {
      if (line !== 'READY') return;
      clearTimeout(timer);
      resolve();
    });
    void broker.ended.then((code) => {
      clearTimeout(timer);
      reject(new Error(`Kafka ended with ${code} while starting: ${broker.output.stderr}`));
    });
  });
  return broker;
}

/** Small, quick to start, and without the pause that lets members of a new group gather. */
function serverProperties(host: string, port: number, controllerPort: number, logDir: string): Properties {
  // Its starter reaches it on loopback.
  const listenOn = host === '127.0.0.1' ? host : '0.0.0.0';
  return {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://${listenOn}:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://${host}:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': logDir,
    'auto.create.topics.enable': false,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1000,
    // Or a broker that was killed is let in again only after nine seconds.
    'broker.session.timeout.ms': 1000,
    'broker.heartbeat.interval.ms': 400,
    // A record that says nothing, and what follows from it, is half of what an idle broker does; it comes twice a second.
    'metadata.max.idle.interval.ms': 30_000,
    'log.cleaner.dedupe.buffer.size': 2_097_152,
    'num.network.threads': 2,
    'num.io.threads': 2,
    'background.threads': 1,
    'num.recovery.threads.per.data.dir': 1,
  };
}

function asText(properties: Properties): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
