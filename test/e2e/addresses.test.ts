import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import mongoose, { type Connection } from 'mongoose';
import { systemClock } from '../../src/infra/clock.ts';
import { AccountStore } from '../../src/tenants/accounts/account-store.ts';
import { KeyStore } from '../../src/tenants/keys/key-store.ts';
import { AccountClient, PASSWORD } from '../support/account-client.ts';
import { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startMongo } from '../support/mongo.ts';
import { freePort } from '../support/ports.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { send } from '../support/send.ts';

const HAS_IPV6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);
const OVER_IPV4 = '127.0.0.1';
const OVER_IPV6 = '[::1]';

describe('Addresses that a process is reached at, and those of its callers', () => {
  let mongodbUri: string;
  let connection: Connection;
  let started: RoleProcess[];
  beforeEach(async () => {
    mongodbUri = (await startMongo()).uri;
    connection = await mongoose.createConnection(mongodbUri).asPromise();
    started = [];
  });
  afterEach(async () => {
    for (const role of started) await role.end();
    await connection.close();
  });

  /** An API, which needs no Kafka to answer. */
  async function startApi(environment: Record<string, string> = {}): Promise<number> {
    const api = await startRole('api', {
      MONGODB_URI: mongodbUri,
      KAFKA_BROKERS: `127.0.0.1:${await freePort()}`,
      PLATEN_SECRET: 'a secret for tests, long enough to be one',
      ...environment,
    });
    started.push(api);
    await api.ready();
    return Number(new URL(api.url).port);
  }

  const register = (url: string, email: string, headers = {}) =>
    send(url, 'POST', '/auth/register', { email, password: PASSWORD }, headers);

  it('are those of IPv4 and IPv6 by default, also of operations', async function () {
    if (!HAS_IPV6) this.skip();
    const opsPort = await freePort();
    const port = await startApi();
    for (const host of [OVER_IPV4, OVER_IPV6])
      assert.equal((await fetch(`http://${host}:${port}/openapi.json`)).status, 200, host);
    const dispatcher = await startRole('dispatcher', {
      MONGODB_URI: mongodbUri,
      KAFKA_BROKERS: `127.0.0.1:${await freePort()}`,
      PLATEN_OPS_PORT: String(opsPort),
    });
    started.push(dispatcher);
    await eventually('it listens', () =>
      fetch(`http://${OVER_IPV4}:${opsPort}/healthz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    assert.equal((await fetch(`http://${OVER_IPV6}:${opsPort}/healthz`)).status, 200);

    const one = await startApi({ PLATEN_HOST: '127.0.0.1' });
    await assert.rejects(fetch(`http://${OVER_IPV6}:${one}/openapi.json`));
  });

  it('of IPv4 are known as such: by keys, in logs, by what is counted for a network', async () => {
    const port = await startApi({ PLATEN_REGISTRATIONS_PER_ADDRESS: '1' });
    const url = `http://${OVER_IPV4}:${port}`;
    const registered = await register(url, 'ada@example.com');
    assert.equal(registered.status, 201);
    assert.equal((await register(url, 'grace@example.com')).status, 429, 'the same network');
    if (HAS_IPV6)
      assert.equal((await register(`http://${OVER_IPV6}:${port}`, 'joan@example.com')).status, 201);

    const owner = new AccountClient(url, registered.json.accessToken);
    const [account] = await connection.collection('accounts').find({ email: 'ada@example.com' }).toArray();
    await new AccountStore(connection, systemClock).setPlan(String(account!._id), 'business');
    const made = await owner.expect(201, 'POST', '/user/api-keys', {
      name: 'of this machine',
      mode: 'live',
      allowedIps: ['127.0.0.0/8'],
    });
    const keys = new KeyStore(connection, systemClock);
    await eventually('the key is in force', async () => (await keys.findBySecret(made.apiKey)) !== undefined);
    const submit = (host: string) =>
      new TestClient(`http://${host}:${port}`, made.apiKey).render({ html: '<p>x', executionMode: 'async' });
    assert.equal((await submit(OVER_IPV4)).status, 202);
    if (HAS_IPV6) assert.equal((await submit(OVER_IPV6)).status, 403);

    // Both are written down a moment after the answer.
    let used: string | null = null;
    await eventually('the last use is noted', async () => {
      used = (await owner.expect(200, 'GET', '/user/api-keys')).keys[0].lastUsedIp;
      return used !== null;
    });
    assert.equal(used, '127.0.0.1');
    let logged: string[] = [];
    await eventually('the calls are logged', async () => {
      const { logs } = await owner.expect(200, 'GET', '/user/request-logs?period=1d');
      logged = logs.map(({ ipAddress }: { ipAddress: string }) => ipAddress);
      return logged.length > 0;
    });
    assert.deepEqual([...new Set(logged)], ['127.0.0.1']);
    const audit = await owner.expect(200, 'GET', '/user/audit-log');
    assert.doesNotMatch(JSON.stringify(audit), /::ffff:/);
  });

  it('that a proxy forwards are one address in either form', async () => {
    const port = await startApi({ PLATEN_REGISTRATIONS_PER_ADDRESS: '1', PLATEN_TRUSTED_PROXIES: '1' });
    const from = (address: string, email: string) =>
      register(`http://${OVER_IPV4}:${port}`, email, { 'x-forwarded-for': address });
    assert.equal((await from('::ffff:203.0.113.7', 'a@example.com')).status, 201);
    assert.equal((await from('203.0.113.7', 'b@example.com')).status, 429);
    assert.equal((await from('::ffff:cb00:7107', 'c@example.com')).status, 429);
    assert.equal((await from('203.0.113.8', 'd@example.com')).status, 201);
  });
});
