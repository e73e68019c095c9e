import assert from 'node:assert/strict';
import { AccountClient, newEmail, PASSWORD } from '../../support/account-client.ts';
import { runCommand } from '../../support/command.ts';
import { startMongo } from '../../support/mongo.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';

const HOUR_MS = 3_600_000;

describe('Registration', () => {
  let api: TestApi;
  afterEach(() => api.close());

  function register(address: string, more: { invitation?: string; email?: string } = {}) {
    const body = { email: newEmail(), password: PASSWORD, ...more };
    return callApi(api.url, 'POST', '/auth/register', body, { 'x-forwarded-for': address });
  }

  /** Lets time pass to the beginning of the next hour, so that no window of registrations ends during a test. */
  function beginHour(...apis: TestApi[]): void {
    const left = HOUR_MS - (api.domain.clock.now().getTime() % HOUR_MS);
    for (const { domain } of apis) domain.clock.pass(left + 1000);
  }

  /** The status, and the error code. */
  async function outcome(asked: ReturnType<typeof register>) {
    const { status, json } = await asked;
    return status === 201 ? 201 : `${status} ${json.code}`;
  }

  it('is bounded for each network, over all processes, for an hour', async () => {
    const { uri } = await startMongo();
    const options = { uri, config: { PLATEN_REGISTRATIONS_PER_ADDRESS: 3 }, trustedProxies: 1 };
    api = await openApi(options);
    const other = await openApi(options);
    beginHour(api, other);
    for (const n of [1, 2]) assert.equal(await outcome(register(`2001:db8:1:1::${n}`)), 201);
    const elsewhere = await callApi(
      other.url,
      'POST',
      '/auth/register',
      { email: newEmail(), password: PASSWORD },
      { 'x-forwarded-for': '2001:db8:1:1::3' },
    );
    assert.equal(elsewhere.status, 201);
    const rejected = await register('2001:db8:1:1::4');
    assert.deepEqual([rejected.status, rejected.json.code], [429, 'TOO_MANY_REGISTRATIONS']);
    const seconds = Number(rejected.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 3600, String(seconds));
    assert.equal(await outcome(register('2001:db8:1:2::1')), 201);
    api.domain.clock.pass(HOUR_MS);
    assert.equal(await outcome(register('2001:db8:1:1::5')), 201);
    await other.close();
  });

  it('is bounded for one IPv6 /48 at ten times as many', async () => {
    api = await openApi({ config: { PLATEN_REGISTRATIONS_PER_ADDRESS: 1 }, trustedProxies: 1 });
    beginHour(api);
    for (let n = 0; n < 10; n += 1) assert.equal(await outcome(register(`2001:db8:2:${n}::1`)), 201);
    assert.equal(await outcome(register('2001:db8:2:ff::1')), '429 TOO_MANY_REGISTRATIONS');
    assert.equal(await outcome(register('2001:db8:3:1::1')), 201);
    assert.equal(await outcome(register('198.51.100.1')), 201);
  });

  it('can be closed', async () => {
    api = await openApi({ config: { PLATEN_REGISTRATION: 'closed' } });
    assert.equal(await outcome(register('198.51.100.1')), '403 REGISTRATION_CLOSED');
  });

  it('can require an invitation, which is valid for one account, on its plan', async () => {
    const { uri } = await startMongo();
    api = await openApi({ uri, config: { PLATEN_REGISTRATION: 'invite' } });
    const { invitations } = api.tenants;
    assert.equal(await outcome(register('198.51.100.1')), '403 REGISTRATION_CLOSED');
    assert.equal(await outcome(register('198.51.100.1', { invitation: 'x' })), '403 INVITATION_INVALID');
    const made = await runCommand(['accounts', 'invite', '--plan', 'starter', '--json'], {
      environment: { MONGODB_URI: uri },
    });
    const { code: invitation } = JSON.parse(made.stdout);
    const email = newEmail();
    const response = await register('198.51.100.1', { email, invitation });
    const client = new AccountClient(api.url, response.json.accessToken);
    assert.equal((await client.expect(200, 'GET', '/auth/me')).plan, 'starter');
    assert.equal(await outcome(register('198.51.100.1', { invitation })), '403 INVITATION_INVALID');
    // An invitation that led to no account stays valid for one, until it expires.
    const second = (await invitations.create({ plan: 'free' }, HOUR_MS)).secret;
    const taken = await outcome(register('198.51.100.1', { email, invitation: second }));
    assert.equal(taken, '401 UNAUTHENTICATED');
    const [a, b] = await Promise.all(
      [1, 2].map((n) => outcome(register(`198.51.100.${n}`, { invitation: second }))),
    );
    assert.deepEqual([a, b].toSorted(), [201, '403 INVITATION_INVALID']);
    const third = (await invitations.create({ plan: 'free' }, HOUR_MS)).secret;
    api.domain.clock.pass(HOUR_MS);
    assert.equal(await outcome(register('198.51.100.1', { invitation: third })), '403 INVITATION_INVALID');
  });

  it('of many concurrent accounts prevents no sign-in, from the same network or others', async () => {
    api = await openApi({ trustedProxies: 1 });
    const email = newEmail();
    await register('198.51.100.1', { email });
    const flood = Array.from({ length: 150 }, (_, n) =>
      outcome(register(n % 2 ? '198.51.100.1' : `203.0.113.${n}`)),
    );
    const responses = await Promise.all(
      ['198.51.100.1', '192.0.2.1'].map((address) =>
        callApi(
          api.url,
          'POST',
          '/auth/login',
          { email, password: PASSWORD },
          { 'x-forwarded-for': address },
        ),
      ),
    );
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200],
    );
    const outcomes = await Promise.all(flood);
    assert.ok(outcomes.includes('503 UNAVAILABLE'), 'the flood crosses its bound');
    assert.ok(outcomes.includes(201));
  });

  it('and sign-ins of one network do not delay other networks', async () => {
    api = await openApi({ trustedProxies: 1 });
    const email = newEmail();
    await register('192.0.2.1', { email });
    const login = (address: string, password: string) =>
      callApi(api.url, 'POST', '/auth/login', { email, password }, { 'x-forwarded-for': address });
    const flood = Array.from({ length: 60 }, () =>
      callApi(
        api.url,
        'POST',
        '/auth/login',
        { email: newEmail(), password: PASSWORD },
        { 'x-forwarded-for': '203.0.113.1' },
      ),
    );
    assert.equal((await login('192.0.2.1', PASSWORD)).status, 200);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    assert.ok(statuses.includes(503), 'the flood crosses its bound');
  });
});
