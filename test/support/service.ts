import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KeyMode } from '../../src/tenants/keys/secret.ts';
import type { PlanName } from '../../src/tenants/plans/plan.ts';
import { TestClient } from './client.ts';
import { HUNG_MS } from './eventually.ts';
import { newPrefix, sharedKafka, type TestKafka } from './kafka.ts';
import { startMongo } from './mongo.ts';
import { type RoleProcess, startRole } from './processes.ts';
import { sharedS3 } from './s3-server.ts';
import { createTenant, openStoredTenants, type StoredTenants } from './tenant.ts';

export interface Tenant {
  readonly accountId: string;
  readonly client: TestClient;
}

/** A running Platen, in whatever form, and what a test needs to know about it. */
export interface TestService {
  readonly url: string;
  readonly mongodbUri: string;
  /** What its database has of tenants. */
  readonly tenants: StoredTenants;
  /** By role; a killed one is replaced with `restart`. */
  readonly roles: Map<string, RoleProcess>;
  /** Starts a role anew with the environment it had, or one more. */
  restart(role: string): Promise<void>;
  newTenant(plan: PlanName, mode?: KeyMode): Promise<Tenant>;
  saveTemplate(tenant: Tenant, content: string): Promise<{ templateId: string; versionId: string }>;
  /** The metrics of every role, one after the other. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** Quick repairs, and loopback reachable: documents of tests live there. */
const ENVIRONMENT = {
  PLATEN_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
  PLATEN_SWEEP_MS: '2000',
  PLATEN_REDELIVERY_MS: '1500',
  PLATEN_RETRY_BASE_MS: '200',
  PLATEN_SECRET: 'a secret for tests, long enough to be one',
  PLATEN_WORKER_SLOTS: '2',
  PLATEN_SYNC_WAIT_MS: String(HUNG_MS),
  PLATEN_REGISTRATIONS_PER_ADDRESS: '10000',
  PLATEN_PLANS_FILE: fileURLToPath(new URL('plans.yaml', import.meta.url)),
};

/**
 * For tests that kill workers: another one has their jobs soon. In all others a worker that a busy machine delays for
 * so long would count as dead, and its renders would be attempted again.
 */
export const SHORT_LEASE = { PLATEN_LEASE_MS: '4000' };

/** One process, in-process bus. @param uriOptions of its connection to the database: `name=value&…`. */
export async function openStandaloneService(
  environment: Record<string, string> = {},
  uriOptions = '',
): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'platen-standalone-'));
  const service = await open(['standalone'], { PLATEN_DATA_DIR: dataDir, ...environment }, uriOptions);
  return {
    ...service,
    async stop() {
      await service.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

let shared: Promise<TestService> | undefined;

/**
 * The one standalone service of all tests of this process that are content with it as it is started by default, and neither
 * kill it nor count what it has in all: a start costs five seconds of processor time. It ends after the last test. For files
 * that follow each other: in two minutes without work it uses as much as a start.
 */
export function sharedStandaloneService(): Promise<TestService> {
  shared ??= openStandaloneService();
  return shared;
}

// A root hook: mocha runs it after the last test of the last file.
if (typeof after === 'function') after(async () => (await shared)?.stop());

/**
 * Several processes over a real Kafka.
 *
 * @param roleNames the processes; `worker-1` is a worker, so that there may be several. The service's address is the
 * last one's.
 * @param kafka default the one that tests share.
 */
export async function openKafkaService(
  environment: Record<string, string> = {},
  roleNames: readonly string[] = ['dispatcher', 'worker', 'api'],
  kafka?: TestKafka,
): Promise<TestService> {
  const { brokers } = kafka ?? (await sharedKafka());
  return open(roleNames, {
    KAFKA_BROKERS: brokers.join(','),
    PLATEN_KAFKA_TOPIC_PREFIX: newPrefix(),
    ...environment,
  });
}

/** Where PDFs are kept: where a role keeps them by default, or with TEST_STORE=s3 in a bucket of its own. */
async function store(): Promise<Record<string, string>> {
  return process.env.TEST_STORE === 's3' ? (await sharedS3()).newBucket() : {};
}

async function open(
  roleNames: readonly string[],
  environment: Record<string, string>,
  uriOptions = '',
): Promise<TestService> {
  const { uri } = await startMongo();
  const ownUri = uriOptions === '' ? uri : `${uri}${uri.includes('?') ? '&' : '?'}${uriOptions}`;
  const all: Record<string, string> = {
    ...ENVIRONMENT,
    MONGODB_URI: ownUri,
    ...(await store()),
    ...environment,
  };
  const tenants = await openStoredTenants(uri);
  const roles = new Map<string, RoleProcess>();
  const edge = roleNames.at(-1)!;
  // The port stays the same when the role is started anew.
  const ports = new Map<string, string>();
  const start = async (name: string) => {
    const [role] = name.split('-') as [string];
    const port = ports.get(name);
    const own = { ...all, POD_NAME: name, POD_NAMESPACE: 'default' };
    const started = await startRole(role, port === undefined ? own : { ...own, PORT: port });
    // Known before it is ready, so that it is ended with the others should it never be.
    roles.set(name, started);
    ports.set(name, new URL(started.url).port);
    await started.ready();
  };
  for (const name of roleNames) await start(name);
  const { url } = roles.get(edge)!;
  return {
    url,
    mongodbUri: uri,
    tenants,
    roles,
    restart: start,
    async newTenant(plan, mode = 'live') {
      const { accountId, secret } = await createTenant(tenants, plan, { mode });
      return { accountId, client: new TestClient(url, secret) };
    },
    async saveTemplate(tenant, content) {
      const saved = await tenants.templates.create(tenant.accountId, {
        ...{ name: 'test', content, sampleData: '{}' },
      });
      return { templateId: saved.template._id, versionId: saved.version._id };
    },
    async metrics() {
      const texts = [...roles.values()].map(async (role) => (await fetch(`${role.url}/metrics`)).text());
      return (await Promise.all(texts)).join('\n');
    },
    async stop() {
      await tenants.connection.close();
      for (const role of [...roles.values()].reverse()) await role.end();
    },
  };
}
