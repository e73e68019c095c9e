import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { bootstrapAccount } from '../../../src/roles/bootstrap-account.ts';
import { firstAccount } from '../../../src/roles/standalone-data.ts';
import { AccountClient, signUp } from '../../support/account-client.ts';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { startMongo } from '../../support/mongo.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';

const EMAIL = 'first@example.com';
const KEY = `sk_live_${'given-by-the-operator'.padEnd(40, 'x')}`;
const GIVEN = {
  PLATEN_BOOTSTRAP_EMAIL: EMAIL,
  PLATEN_BOOTSTRAP_PASSWORD: 'the first password',
  PLATEN_BOOTSTRAP_PLAN: 'starter',
  PLATEN_BOOTSTRAP_API_KEY: KEY,
};

describe('The bootstrap account', () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await openApi();
  });
  afterEach(() => api.close());

  const start = (config: Parameters<typeof bootstrapAccount>[1] = GIVEN) =>
    bootstrapAccount({ ...api, logger: pino({ level: 'silent' }) }, config);

  async function signIn(password: string): Promise<AccountClient> {
    const response = await callApi(api.url, 'POST', '/auth/login', { email: EMAIL, password });
    assert.equal(response.status, 200);
    return new AccountClient(api.url, response.json.accessToken);
  }

  /** The audited actions of operators, sorted by name, since many have the same time. */
  async function done(client: AccountClient) {
    const { entries } = await client.expect(200, 'GET', '/user/audit-log?sort=created_asc');
    return entries
      .filter(({ actor }: { actor: string }) => actor === 'operator')
      .map(({ action }: { action: string }) => action)
      .toSorted();
  }

  it('is created once, with its key, however many processes start concurrently or again', async () => {
    await Promise.all([start(), start(), start()]);
    await start();
    const client = await signIn(GIVEN.PLATEN_BOOTSTRAP_PASSWORD);
    assert.equal((await client.expect(200, 'GET', '/auth/me')).plan, 'starter');
    const { keys, total } = await client.expect(200, 'GET', '/user/api-keys');
    assert.deepEqual([total, keys[0].prefix, keys[0].mode], [1, KEY.slice(0, 12), 'live']);
    const jobs = await callApi(api.url, 'GET', '/v1/pdf/jobs', undefined, { 'x-api-key': KEY });
    assert.equal(jobs.status, 200);
    assert.deepEqual(await done(client), ['account.registered', 'key.created']);
  });

  it('takes over a changed plan and password, which revokes its tokens, and is audited', async () => {
    await start();
    const before = await signIn(GIVEN.PLATEN_BOOTSTRAP_PASSWORD);
    const password = 'another password';
    await start({ ...GIVEN, PLATEN_BOOTSTRAP_PLAN: 'business', PLATEN_BOOTSTRAP_PASSWORD: password });
    await before.expect(401, 'GET', '/auth/me');
    const client = await signIn(password);
    assert.equal((await client.expect(200, 'GET', '/auth/me')).plan, 'business');
    assert.deepEqual(await done(client), [
      'account.password_reset',
      'account.plan_changed',
      'account.registered',
      'account.tokens_revoked',
      'key.created',
    ]);
  });

  it('cannot have the key of another account', async () => {
    await start();
    const other = { ...GIVEN, PLATEN_BOOTSTRAP_EMAIL: 'second@example.com' };
    await assert.rejects(start(other), /the key belongs to another account/);
  });

  it('does not take over an account with its address that somebody has registered, until all credentials of that account are revoked', async () => {
    const { uri } = await startMongo();
    await api.close();
    api = await openApi({ uri });
    const squatter = await signUp(api.url, EMAIL);
    const { apiKey } = await squatter.expect(201, 'POST', '/user/api-keys', { name: 'theirs' });
    const theirs = () => callApi(api.url, 'GET', '/v1/pdf/jobs', undefined, { 'x-api-key': apiKey });
    await assert.rejects(start(), /PLATEN_BOOTSTRAP_EMAIL: somebody else has registered first@example\.com/);
    assert.equal(await api.keys.findBySecret(KEY), undefined);
    assert.equal((await squatter.expect(200, 'GET', '/auth/me')).plan, 'free');
    // A new password does not revoke API keys.
    const reset = ['accounts', 'reset-password', EMAIL];
    const environment = { MONGODB_URI: uri };
    assert.equal((await runCommand(reset, { environment })).code, 0);
    await assert.rejects(start(), /somebody else has registered/);
    assert.equal((await theirs()).status, 200);
    assert.equal((await runCommand([...reset, '--revoke-keys'], { environment })).code, 0);
    await eventually('the key is ended', async () => (await theirs()).status === 401);
    await start();
    const client = await signIn(GIVEN.PLATEN_BOOTSTRAP_PASSWORD);
    const { keys } = await client.expect(200, 'GET', '/user/api-keys?status=active');
    assert.deepEqual(
      keys.map(({ name }: { name: string }) => name),
      ['bootstrap'],
    );
    await eventually('their token is ended', async () => (await squatter.get('/auth/me')).status === 401);
  });

  it('cannot have an unknown plan', async () => {
    const unknown = start({ ...GIVEN, PLATEN_BOOTSTRAP_PLAN: 'gold' });
    await assert.rejects(unknown, /PLATEN_BOOTSTRAP_PLAN: gold is no plan; free, starter/);
    assert.equal(await api.accounts.findByEmail(EMAIL), undefined);
  });
});

describe('The first account of a data folder', () => {
  it('is created once with its key, which is replaced when its file is lost, and both are audited', async () => {
    const api = await openApi();
    const folder = await mkdtemp(join(tmpdir(), 'platen-first-'));
    const start = () => firstAccount({ ...api, config: { PLATEN_DATA_DIR: folder } });
    const { keyFile, madeKey, signInToken } = await start();
    const second = await start();
    assert.deepEqual([second.keyFile, second.madeKey], [keyFile, undefined]);
    assert.notEqual(second.signInToken, signInToken, 'each start has a link of its own');
    assert.equal((await readFile(keyFile, 'utf8')).trim(), madeKey);
    await rm(keyFile);
    const again = (await start()).madeKey;
    assert.notEqual(again, madeKey);
    const accountId = (await api.keys.findBySecret(again!))!.accountId;
    assert.equal((await api.accounts.find(accountId))?.plan, 'business');
    const { entries } = await api.tenants.audit.list(accountId, {
      limit: 10,
      offset: 0,
      newestFirst: false,
    });
    // Sorted by name, since several may have the same time.
    assert.deepEqual(entries.map(({ action, actor }) => `${action} by ${actor}`).toSorted(), [
      'account.registered by operator',
      'key.created by operator',
      'key.created by operator',
    ]);
    await rm(folder, { recursive: true });
    await api.close();
  });

  it('does not take over an account with its address that somebody has registered', async () => {
    const api = await openApi();
    const folder = await mkdtemp(join(tmpdir(), 'platen-first-'));
    await signUp(api.url, 'owner@localhost.localdomain');
    const first = firstAccount({ ...api, config: { PLATEN_DATA_DIR: folder } });
    await assert.rejects(first, /somebody else has registered owner@localhost\.localdomain/);
    await rm(folder, { recursive: true });
    await api.close();
  });
});
