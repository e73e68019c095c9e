import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestClient } from '../support/client.ts';
import { type CountedWay, openCountedWay } from '../support/counted-way.ts';
import { newPrefix } from '../support/kafka.ts';
import { startMongo } from '../support/mongo.ts';
import { openKafkaService, type TestService } from '../support/service.ts';
import { createTenant, openStoredTenants, type StoredTenants } from '../support/tenant.ts';

const ROLES = ['dispatcher', 'worker', 'api'] as const;
type Role = (typeof ROLES)[number];

const RENDERS = 8;
/** Between two renders, so that nothing of one is written together with another, as on a large fleet. */
const APART_MS = 600;
/** After the last one, until everything about it is written. */
const SETTLED_MS = 4000;
/** What a render reads and writes; all others are periodic queries, and so are `PERIODIC`. */
const OF_RENDERS = new Set([
  ...['ledgers', 'jobs', 'job_inputs', 'job_history', 'outputs.files', 'outputs.chunks'],
  ...['usage_buckets', 'request_log', 'request_log_days', 'api_keys', 'accounts', 'rate_windows'],
]);

/** The number of live jobs, by the API, and what is due and has changed, by the dispatcher. */
const PERIODIC = new Set(['count jobs', 'find ledgers']);

interface Counted {
  readonly commands: number;
  readonly bytes: number;
  /** The commands of each kind. */
  readonly kinds: Readonly<Record<string, number>>;
}

/**
 * What one render costs the database, on processes of their own whose commands are counted on the wire. The bounds are a
 * little above what it costs: whoever adds a command has to say so here.
 */
describe('Commands and bytes for a PDF', () => {
  const ways = new Map<Role, CountedWay>();
  const services: TestService[] = [];
  let tenants: StoredTenants;
  let client: TestClient;
  before(async () => {
    const { uri } = await startMongo();
    const shared = {
      PLATEN_KAFKA_TOPIC_PREFIX: newPrefix(),
      PLATEN_SWEEP_MS: '1000',
      PLATEN_WORKER_SLOTS: '1',
    };
    for (const role of ROLES) {
      const way = await openCountedWay(uri);
      ways.set(role, way);
      services.push(await openKafkaService({ ...shared, MONGODB_URI: way.uri }, [role]));
    }
    tenants = await openStoredTenants(uri);
    const { secret } = await createTenant(tenants, 'business', { mode: 'live' });
    client = new TestClient(services.at(-1)!.url, secret);
    const first = await client.renderToEnd({ html: '<p>first</p>' });
    assert.equal(first.status, 200);
  });
  after(async () => {
    for (const service of services.reverse()) await service.stop();
    await tenants.connection.close();
    for (const way of ways.values()) way.close();
  });

  const count = async (render: () => Promise<unknown>): Promise<Record<Role, Counted>> => {
    await sleep(SETTLED_MS);
    for (const way of ways.values()) way.take();
    for (let i = 0; i < RENDERS; i += 1) {
      await render();
      await sleep(APART_MS);
    }
    await sleep(SETTLED_MS);
    const result = Object.fromEntries(ROLES.map((role) => [role, perRender(ways.get(role)!)])) as Record<
      Role,
      Counted
    >;
    return result;
  };

  const perRender = (way: CountedWay): Counted => {
    let commands = 0;
    let bytes = 0;
    const kinds: Record<string, number> = {};
    for (const [command, of] of way.take()) {
      if (PERIODIC.has(command) || !OF_RENDERS.has(command.split(' ')[1] ?? '')) continue;
      commands += of.commands / RENDERS;
      bytes += of.bytes / RENDERS;
      kinds[command] = of.commands / RENDERS;
    }
    return { commands, bytes, kinds };
  };

  const isWithin = (counted: Record<Role, Counted>, most: Record<Role, Omit<Counted, 'kinds'>>) => {
    for (const role of ROLES) {
      const text = `${role}: ${JSON.stringify(counted[role])}`;
      console.log(`      ${text}`);
      assert.ok(counted[role].commands <= most[role].commands, text);
      assert.ok(counted[role].bytes <= most[role].bytes, text);
    }
  };

  it('of a request that waits for it', async () => {
    const counted = await count(() => client.render({ html: '<p>a document</p>' }));
    isWithin(counted, {
      // Key, account, rate, slot, job; the outcome and the PDF; now and then two writes of the log, and the last use.
      api: { commands: 9, bytes: 4500 },
      // Claim, PDF, end, slot with usage; history, the live record, the ledger at rest.
      worker: { commands: 7.5, bytes: 12_000 },
      // Plans of accounts whose jobs were under way at a sample.
      dispatcher: { commands: 0.6, bytes: 200 },
    });
  });

  it('of a job in the background', async () => {
    const counted = await count(() => client.submit({ html: '<p>a document</p>' }));
    isWithin(counted, {
      // Neither the outcome nor the PDF.
      api: { commands: 7, bytes: 4000 },
      worker: { commands: 7.5, bytes: 12_000 },
      dispatcher: { commands: 0.6, bytes: 200 },
    });
  });
});
