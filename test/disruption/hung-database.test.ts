import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { API_ROUTES } from '../../src/http/app.ts';
import { ACCESS } from '../e2e/support/access-table.ts';
import { Cast } from '../e2e/support/cast.ts';
import { newEmail, PASSWORD } from '../support/account-client.ts';
import { chargedTo } from '../support/charged.ts';
import { eventually, HUNG_MS } from '../support/eventually.ts';
import { assertNothingHeld } from '../support/held.ts';
import { suspendMongo } from '../support/mongo.ts';
import { readPdf } from '../support/pdf.ts';
import type { RoleProcess } from '../support/processes.ts';
import { type Reply, send } from '../support/send.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';

/** Requests without a response at the same moment: far more than the driver has connections. */
const MANY = 500;
const SIGN_INS = 8;
const DELAYED = { html: '<p>delayed</p>', options: { delayMs: 4000 } };

const ROUTES = API_ROUTES.filter(({ internal }) => internal !== true).map(
  ({ method, path }) => `${method.toUpperCase()} ${path}`,
);
/** Their responses name no code: the first says that the process is not ready, the second is a page for a person. */
const WITHOUT_CODE = [
  'GET /readyz',
  'GET /public/auto-overage/disable',
  'GET /public/notifications/unsubscribe',
];

/**
 * Nothing here measures how long a response takes (test/unit/store/response-watch.test.ts has the time on a clock of its
 * own). But the driver notices only after half a minute or more that a database has stopped responding, and then says
 * that the connection is lost: all responses come before that.
 */
describe('While the database accepts connections and responds to nothing', () => {
  let service: TestService;
  let process: RoleProcess;
  let cast: Cast;
  let connection: Connection;
  let resume: (() => void) | undefined;
  /** Requests that their owner is allowed, with what they are about, by route. */
  const asks = new Map<string, { path: string; body?: unknown }>();
  let underWay: string[];
  let waiting: Promise<Reply>;
  /** PDFs of the month so far, of the account. */
  let used: () => Promise<number>;

  before(async () => {
    service = await openStandaloneService();
    process = service.roles.get('standalone')!;
    cast = await Cast.assemble(service, '203.0.113.1');
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    used = () => chargedTo(connection, cast.owner.accountId);
    for (const name of ROUTES) asks.set(name, await ACCESS[name]!.ask(cast.owner));
  });
  after(async () => {
    resume?.();
    await connection?.close();
    await service?.stop();
  });

  const ask = (name: string, headers: Record<string, string> = {}) => {
    const { path, body } = asks.get(name)!;
    const all = { ...cast.owner.headers, 'sec-fetch-site': 'same-origin', ...headers };
    return send(service.url, name.split(' ')[0]!, path, body, all, HUNG_MS);
  };
  const textOf = ({ bytes }: Reply) => Buffer.from(bytes).toString().slice(0, 300);
  const assertUnavailable = (reply: Reply, what: string) => {
    assert.equal(reply.status, 503, `${what}: ${textOf(reply)}`);
    assert.equal(reply.json.code, 'UNAVAILABLE', what);
    assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/, what);
  };
  const lost = () => process.logs.some(({ msg }) => msg === 'database connection lost');
  const pending = async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(metrics, /^platen_database_responding\{.*\} 0$/m);
    return Number(/^platen_database_operations\{.*\} (\d+)$/m.exec(metrics)?.[1]);
  };

  it('every route rejects with 503, or does without it', async () => {
    underWay = await Promise.all([1, 2, 3].map(() => cast.owner.client.submit(DELAYED)));
    waiting = cast.owner.client.render({ html: '<p>waited for</p>', options: { delayMs: 4000 } });
    await cast.owner.client.call('GET', '/v1/pdf/jobs');
    resume = await suspendMongo();
    const replies = await Promise.all(ROUTES.map(async (name) => ({ name, reply: await ask(name) })));
    const known = replies.filter(({ name, reply }) => reply.status !== 503 && !WITHOUT_CODE.includes(name));
    for (const { name, reply } of known)
      assert.equal(reply.status, ACCESS[name]?.status, `${name}: ${textOf(reply)}`);
    const others = replies.filter(({ name, reply }) => reply.status === 503 && !WITHOUT_CODE.includes(name));
    for (const { name, reply } of others) assertUnavailable(reply, name);
    assert.ok(others.length > known.length * 5, known.map(({ name }) => name).join());
    for (const name of ['GET /healthz', 'GET /metrics', 'GET /openapi.json', 'GET /docs', 'GET /auth/config'])
      assert.ok(
        known.some((one) => one.name === name),
        name,
      );
    assert.equal(lost(), false, 'before the driver has noticed');
  });

  it('a process says that it is not ready, and why', async () => {
    const reply = await ask('GET /readyz');
    assert.equal(reply.status, 503);
    assert.match(reply.json.problems.join(), /database: /);
    assert.equal(lost(), false);
  });

  it('sign-ins of one network do not wait for each other', async () => {
    const body = { email: newEmail(), password: PASSWORD };
    const headers = { 'sec-fetch-site': 'same-origin' };
    const sign = () => send(service.url, 'POST', '/auth/login', body, headers, HUNG_MS);
    for (const reply of await Promise.all(Array.from({ length: SIGN_INS }, sign)))
      assertUnavailable(reply, 'a sign-in');
    assert.equal(lost(), false);
  });

  it('nothing piles up, however many ask', async () => {
    const before = await pending();
    for (const reply of await Promise.all(Array.from({ length: MANY }, () => ask('GET /v1/pdf/jobs'))))
      assertUnavailable(reply, 'a list');
    // What sweeps and polls add in the meantime is far less.
    assert.ok((await pending()) < before + MANY / 2, 'operations of requests end with them');
    assert.equal(lost(), false);
  });

  it('everything that was accepted ends once when it responds again, and rejected requests leave nothing', async () => {
    resume!();
    resume = undefined;
    await process.ready();
    for (const id of underWay) {
      const job = await cast.owner.client.end(id);
      assert.deepEqual([job.status, job.attemptCount], ['completed', 1], JSON.stringify(job.error));
    }
    const reply = await waiting;
    assert.equal(reply.status, 200, textOf(reply));
    assert.equal((await readPdf(reply.bytes)).text.trim(), 'waited for');
    await assertNothingHeld(connection);
    const before = await used();
    const next = await cast.owner.client.renderToEnd({ html: '<p>next</p>' });
    assert.equal(next.status, 200, textOf(next));
    assert.equal(await used(), before + 1);
  });

  it('a request that is repeated with its idempotency key makes one job', async () => {
    const before = await used();
    resume = await suspendMongo();
    const body = { html: '<p>once</p>', executionMode: 'async' };
    const headers = { 'idempotency-key': 'once' };
    assertUnavailable(await cast.owner.client.render(body, headers), 'the first attempt');
    resume();
    resume = undefined;
    await process.ready();
    let jobId = '';
    await eventually('the second attempt is accepted', async () => {
      const reply = await cast.owner.client.render(body, headers);
      assert.ok([202, 409, 503].includes(reply.status), textOf(reply));
      jobId = reply.json.jobId;
      return reply.status === 202;
    });
    assert.equal((await cast.owner.client.render(body, headers)).json.jobId, jobId);
    assert.equal((await cast.owner.client.end(jobId)).status, 'completed');
    await assertNothingHeld(connection);
    assert.equal(await used(), before + 1);
  });
});

/** The driver's monitor gives up after a second or so, sooner than the watch: its errors reach the requests. */
const IMPATIENT = 'connectTimeoutMS=1000&heartbeatFrequencyMS=500&serverSelectionTimeoutMS=1000';

describe('When the driver closes the connections to a database that responds to nothing', () => {
  let service: TestService;
  let resume: (() => void) | undefined;

  before(async () => {
    service = await openStandaloneService({}, IMPATIENT);
  });
  after(async () => {
    resume?.();
    await service?.stop();
  });

  it('the requests under way get 503, whatever they do', async () => {
    const { client } = await service.newTenant('business');
    const asked = (n: number): Promise<Reply>[] => [
      client.call('GET', '/v1/pdf/jobs'),
      client.render({ html: `<p>${n}</p>`, executionMode: 'async' }),
      client.call('POST', '/v1/pdf/batch', { items: [{ id: 'one', html: `<p>${n}</p>` }] }),
      send(
        service.url,
        'POST',
        '/auth/login',
        { email: newEmail(), password: PASSWORD },
        { 'sec-fetch-site': 'same-origin' },
      ),
    ];
    const statuses = new Set<number>();
    // Of those before, some have begun when it is suspended, and some are between two of their operations.
    const before = Array.from({ length: 20 }, (_, n) => asked(n)).flat();
    resume = await suspendMongo();
    for (const reply of await Promise.all([
      ...before,
      ...Array.from({ length: 5 }, (_, n) => asked(n)).flat(),
    ])) {
      statuses.add(reply.status);
      if (reply.status === 503) assert.equal(reply.json.code, 'UNAVAILABLE');
    }
    for (const status of statuses) assert.ok([200, 202, 401, 429, 503].includes(status), String(status));
    assert.ok(statuses.has(503));
    resume();
    resume = undefined;
    await service.roles.get('standalone')!.ready();
    assert.equal((await client.renderToEnd({ html: '<p>next</p>' })).status, 200);
  });
});
