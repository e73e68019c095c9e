import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { TestClient } from '../support/client.ts';
import { eventually, HUNG_MS } from '../support/eventually.ts';
import { assertNothingHeld } from '../support/held.ts';
import { startKafka, type TestKafka } from '../support/kafka.ts';
import { startMongo } from '../support/mongo.ts';
import { readPdf } from '../support/pdf.ts';
import { freePort } from '../support/ports.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { createTenant, openStoredTenants } from '../support/tenant.ts';

const ROLES = ['api', 'dispatcher', 'worker'] as const;
/** More than are rendered at a time: of the rest some wait in the worker, and some for a slot of their plan. */
const MANY = 12;
/** One installation whose Kafka comes late, and goes away for a while. */
describe('Without Kafka', () => {
  let roles: Record<(typeof ROLES)[number], RoleProcess>;
  let kafka: TestKafka | undefined;
  let port: number;
  let connection: Connection;
  let client: TestClient;
  /** The submissions, by the word that their PDFs have to contain. */
  const submissions = new Map<string, string>();

  before(async () => {
    port = await freePort();
    const { uri } = await startMongo();
    const tenants = await openStoredTenants(uri);
    connection = tenants.connection;
    const environment = {
      MONGODB_URI: uri,
      KAFKA_BROKERS: `127.0.0.1:${port}`,
      PLATEN_SECRET: 'a secret for tests, long enough to be one',
      PLATEN_SYNC_WAIT_MS: '2000',
      PLATEN_SWEEP_MS: '200',
      PLATEN_REDELIVERY_MS: '1500',
      PLATEN_WORKER_SLOTS: '2',
    };
    const [api, dispatcher, worker] = await Promise.all(ROLES.map((role) => startRole(role, environment)));
    roles = { api: api!, dispatcher: dispatcher!, worker: worker! };
    await roles.api.ready();
    const { secret } = await createTenant(tenants, 'professional', { mode: 'live' });
    client = new TestClient(roles.api.url, secret);
  });
  after(async () => {
    await connection?.close();
    for (const role of Object.values(roles ?? {})) await role.end();
    await kafka?.stop();
  });

  /** Submits a document in each mode, neither of which can respond with its PDF. */
  async function submitBoth(word: string): Promise<void> {
    for (const executionMode of ['async', 'sync']) {
      const reply = await client.render({ html: `<p>${word} ${executionMode}</p>`, executionMode });
      assert.equal(reply.status, 202, executionMode);
      submissions.set(`${word} ${executionMode}`, reply.json.jobId);
    }
  }

  /** Each job has completed at its first attempt with the submitted text, and nothing is left of any. */
  async function assertEachOnce(): Promise<void> {
    for (const [word, id] of submissions) {
      const job = await client.end(id, HUNG_MS);
      assert.equal(job.status, 'completed', JSON.stringify(job.error));
      assert.equal(job.attemptCount, 1, word);
      const file = await client.call('GET', `/v1/pdf/jobs/${id}/file`);
      assert.equal((await readPdf(file.bytes)).text.trim(), word);
    }
    await assertNothingHeld(connection);
    const { json } = await client.call('GET', '/v1/pdf/jobs?limit=100');
    assert.equal(json.total, submissions.size, 'no job besides');
  }

  const readiness = async ({ url }: RoleProcess) => {
    const response = await fetch(`${url}/readyz`);
    const { problems, lacks = [] } = (await response.json()) as { problems: string[]; lacks?: string[] };
    return { status: response.status, problems, lacks };
  };
  const connected = async ({ url }: RoleProcess) =>
    /^platen_bus_connected\{.*\} (\d)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
  const all = () => Object.values(roles);

  it('an API is ready and takes submissions, and a new worker or dispatcher is not ready', async () => {
    const { status, problems, lacks } = await readiness(roles.api);
    assert.deepEqual([status, problems], [200, []]);
    assert.match(lacks.join(), /^bus: Kafka: /);
    for (const role of [roles.dispatcher, roles.worker]) {
      await eventually(`${role.role} names the bus, and nothing else`, async () => {
        // It listens before it has come so far.
        const said = await readiness(role).catch(() => undefined);
        return said?.status === 503 && /^bus: Kafka: [^,]+$/.test(said.problems.join());
      });
    }
    assert.deepEqual(await Promise.all(all().map(connected)), ['0', '0', '0']);
    await submitBoth('before');
  });

  it('nothing is lost: each submission is rendered once after Kafka is available', async () => {
    kafka = await startKafka({ port });
    for (const role of all()) await role.ready();
    await assertEachOnce();
    await eventually('all say that they have it', async () =>
      (await Promise.all(all().map(connected))).every((said) => said === '1'),
    );
    assert.deepEqual((await readiness(roles.worker)).lacks, []);
  });

  it('processes that were connected before stay ready, serve PDFs and take submissions', async () => {
    for (let n = 0; n < MANY; n += 1) {
      const word = `under way ${n}`;
      submissions.set(word, await client.submit({ html: `<p>${word}</p>`, options: { delayMs: 2000 } }));
    }
    const slow = submissions.get('under way 0')!;
    await eventually(
      'a render is under way',
      async () => (await client.call('GET', `/v1/pdf/jobs/${slow}`)).json.status === 'processing',
    );
    await kafka!.halt();
    await eventually('all say that they are without it', async () =>
      (await Promise.all(all().map(connected))).every((said) => said === '0'),
    );
    for (const role of all()) {
      const { status, problems, lacks } = await readiness(role);
      assert.deepEqual([role.role, status, problems], [role.role, 200, []]);
      assert.match(lacks.join(), /^bus: Kafka: /, role.role);
    }
    assert.equal((await client.end(slow, HUNG_MS)).status, 'completed', 'what was under way is finished');
    assert.equal(
      (await client.call('GET', `/v1/pdf/jobs/${submissions.get('before sync')}/file`)).status,
      200,
    );
    await submitBoth('during');
  });

  it('each submission during the outage is rendered once after it', async () => {
    await kafka!.restart();
    await assertEachOnce();
  });

  it('a broker that accepts connections and responds to nothing delays no response', async () => {
    process.kill(kafka!.pid, 'SIGSTOP');
    await submitBoth('hung');
    for (let n = 0; n < MANY; n += 1) {
      const word = `hung ${n}`;
      submissions.set(word, await client.submit({ html: `<p>${word}</p>` }));
    }
    // A response that waited for its own publication would come after that was given up, each of them.
    const givenUp = roles.api.logs.filter(({ msg }) => /pointer not published/.test(String(msg)));
    assert.ok(givenUp.length < MANY, `${givenUp.length} publications were given up before the last response`);
    await eventually('all say that they are without it', async () =>
      (await Promise.all(all().map(connected))).every((said) => said === '0'),
    );
    for (const role of all()) {
      const { status, lacks } = await readiness(role);
      assert.equal(status, 200, role.role);
      assert.match(lacks.join(), /^bus: Kafka: /, role.role);
    }
    process.kill(kafka!.pid, 'SIGCONT');
    await assertEachOnce();
  });
});
