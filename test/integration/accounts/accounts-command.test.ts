import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_PLANS } from '../../../src/tenants/plans/plan.ts';
import { PlanMirror } from '../../../src/tenants/plans/plan-mirror.ts';
import { BUILT_IN } from '../../../src/tenants/plans/plan-source.ts';
import { AccountClient, newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { runCommand } from '../../support/command.ts';
import { startMongo } from '../../support/mongo.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';
import { FirstPerson } from './support/first-person.ts';

describe('platen accounts', () => {
  let api: TestApi;
  let uri: string;

  before(async () => {
    ({ uri } = await startMongo());
    api = await openApi({ uri });
  });
  after(() => api.close());

  const platen = (
    args: readonly string[],
    { stdin, environment = { MONGODB_URI: uri } }: { stdin?: string; environment?: NodeJS.ProcessEnv } = {},
  ) => runCommand(['accounts', ...args], { stdin, environment });

  async function json(args: readonly string[], stdin?: string) {
    const { code, stdout, stderr } = await platen([...args, '--json'], stdin === undefined ? {} : { stdin });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  }

  const login = (email: string, password: string) =>
    callApi(api.url, 'POST', '/auth/login', { email, password });

  it('creates an account on a plan, with a password that signs in', async () => {
    const email = newEmail();
    const made = await json(['create', email, '--plan', 'starter']);
    const response = await login(email, made.password);
    assert.equal(response.status, 200);
    const me = await new AccountClient(api.url, response.json.accessToken).expect(200, 'GET', '/auth/me');
    assert.deepEqual([me.id, me.plan], [made.id, 'starter']);
    const again = await platen(['create', email]);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /has an account already/);
  });

  it('takes a password from stdin, and does not print it', async () => {
    const email = newEmail();
    const { stdout, code } = await platen(['create', email, '--password-stdin'], { stdin: `${PASSWORD}\n` });
    assert.equal(code, 0);
    assert.ok(!stdout.includes(PASSWORD) && !stdout.includes('Password'));
    assert.equal((await login(email, PASSWORD)).status, 200);
    const short = await platen(['create', newEmail(), '--password-stdin'], { stdin: 'short' });
    assert.match(short.stderr, /8 to 200 characters/);
  });

  it('lists accounts, as a table and as JSON', async () => {
    const email = newEmail();
    const { id } = await json(['create', email]);
    const { stdout } = await platen(['list']);
    const [head, ...rows] = stdout.trimEnd().split('\n');
    assert.match(head!, /^ID +EMAIL +PLAN +CREATED +SIGNS IN BY$/);
    assert.ok(rows.some((row) => row.startsWith(`${id}  ${email} `)));
    const all = await json(['list']);
    assert.equal(all.length, rows.length);
    assert.deepEqual((await json(['list', '--limit', '1', '--offset', '1']))[0], all[1]);
  });

  it('accepts the plans that are mirrored from the cluster', async () => {
    const mirror = new PlanMirror(api.domain.connection);
    const plans = new Map([...BUILT_IN.plans]).set('acme', DEFAULT_PLANS.business);
    assert.match((await platen(['create', newEmail(), '--plan', 'acme'])).stderr, /acme is no plan/);
    await mirror.write({ ...BUILT_IN, plans });
    assert.equal((await json(['create', newEmail(), '--plan', 'acme'])).plan, 'acme');
    await mirror.write(BUILT_IN);
  });

  it('changes a plan, which is in force within a second', async () => {
    const client = await signUp(api.url);
    const { id, email } = await client.expect(200, 'GET', '/auth/me');
    assert.equal((await json(['set-plan', email, 'business'])).plan, 'business');
    await sleep(1000);
    assert.equal((await client.expect(200, 'GET', '/auth/me')).plan, 'business');
    await json(['set-plan', id, 'starter']);
    const { entries } = await client.expect(200, 'GET', '/user/audit-log?action=account.plan_changed');
    assert.deepEqual(
      entries.map(({ actor, details }: { actor: string; details: object }) => ({ actor, ...details })),
      [
        { actor: 'operator', from: 'business', to: 'starter' },
        { actor: 'operator', from: 'free', to: 'business' },
      ],
    );
  });

  it('accepts the plans of the file that its environment names', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platen-accounts-'));
    const environment = { MONGODB_URI: uri, PLATEN_PLANS_FILE: join(folder, 'plans.yaml') };
    await writeFile(environment.PLATEN_PLANS_FILE, 'plans: { gold: { maxActiveKeys: 7 } }');
    const { id } = await json(['create', newEmail()]);
    const set = await platen(['set-plan', id, 'gold', '--json'], { environment });
    assert.equal(JSON.parse(set.stdout).plan, 'gold', set.stderr);
    const unknown = await platen(['set-plan', id, 'silver'], { environment });
    assert.match(unknown.stderr, /silver is no plan; free, starter, professional, business, gold are/);
    await writeFile(environment.PLATEN_PLANS_FILE, 'plans: { gold: { colour: red } }');
    const faulty = await platen(['set-plan', id, 'gold'], { environment });
    assert.equal(faulty.code, 1);
    assert.match(faulty.stderr, /plans\.yaml is not valid:[\s\S]*colour/);
    assert.doesNotMatch(faulty.stderr, /\n +at /);
    await rm(folder, { recursive: true });
  });

  it('resets a password and revokes the tokens', async () => {
    const email = newEmail();
    const client = await signUp(api.url, email);
    await client.expect(200, 'GET', '/auth/me');
    const { password } = await json(['reset-password', email.toUpperCase()]);
    await sleep(1000);
    await client.expect(401, 'GET', '/auth/me');
    assert.equal((await login(email, PASSWORD)).status, 401);
    const fresh = new AccountClient(api.url, (await login(email, password)).json.accessToken);
    const { entries } = await fresh.expect(200, 'GET', '/user/audit-log');
    const actions = entries.map(({ action }: { action: string }) => action);
    assert.ok(actions.includes('account.password_reset') && actions.includes('account.tokens_revoked'));
  });

  it('reports with a new password that whoever registered the account keeps its keys', async () => {
    const registered = newEmail();
    await signUp(api.url, registered);
    assert.match(
      (await platen(['reset-password', registered])).stdout,
      /keeps its API keys; --revoke-keys ends/,
    );
    const own = newEmail();
    await json(['create', own]);
    assert.doesNotMatch((await platen(['reset-password', own])).stdout, /--revoke-keys/);
  });

  it('takes an account over from whoever registered it, which a running service carries out', async () => {
    const first = await FirstPerson.register(api);
    const neighbour = await FirstPerson.register(api);
    await first.client.expect(200, 'POST', '/user/webhook-keys/rotate');
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { pages: 1 };
    };
    const body = { html: '<p>x</p>', executionMode: 'async' };
    const { jobId } = (await first.call('POST', '/v1/pdf', body)).json;
    const { password } = await json(['reset-password', first.email, '--revoke-keys']);
    await sleep(1000);
    await first.assertEnded();
    await neighbour.assertGoesOn();
    const owner = new AccountClient(api.url, (await login(first.email, password)).json.accessToken);
    assert.equal((await owner.expect(200, 'GET', '/user/api-keys?status=active')).total, 0);
    assert.deepEqual((await owner.expect(200, 'GET', '/user/webhook-keys')).keys, []);
    await api.tenants.takeover.sweep();
    gate.open();
    assert.equal((await owner.expect(200, 'GET', `/user/renders/${jobId}`)).status, 'cancelled');
    const log = await owner.expect(200, 'GET', '/user/audit-log?action=account.taken_over');
    assert.equal(log.entries[0].actor, 'operator');
    const mails = api.domain.connection.collection('mails');
    assert.equal(await mails.countDocuments({ 'content.kind': 'account-taken-over' }), 0);
  });

  it('revokes the tokens of an account, but not its keys', async () => {
    const email = newEmail();
    const client = await signUp(api.url, email);
    const { apiKey } = await client.expect(201, 'POST', '/user/api-keys', { name: 'key' });
    await json(['revoke-tokens', email]);
    await sleep(1000);
    await client.expect(401, 'GET', '/auth/me');
    const jobs = await callApi(api.url, 'GET', '/v1/pdf/jobs', undefined, { 'x-api-key': apiKey });
    assert.equal(jobs.status, 200);
    assert.equal((await login(email, PASSWORD)).status, 200);
  });

  it('names the errors of its arguments', async () => {
    for (const [args, reported] of [
      [[], /What is to be done\?[\s\S]*usage: platen accounts/],
      [['drop'], /Not understood: drop[\s\S]*usage/],
      [['list', 'x'], /Not understood/],
      [['list', '--limit', '0'], /--limit must be an integer from 1 to 1000/],
      [['list', '--what'], /--what[\s\S]*usage/],
      [['create', 'nobody'], /nobody is no e-mail address/],
      [['create', `${'a'.repeat(65)}@example.com`], /is no e-mail address/],
      [['set-plan', 'nobody@example.com', 'gold'], /gold is no plan; free, starter/],
      [['set-plan', 'nobody@example.com', 'free'], /no account with the address nobody@example\.com/],
      [['revoke-tokens', '00000000-0000-4000-8000-000000000000'], /There is no account 0000/],
    ] as const) {
      const { code, stderr, stdout } = await platen(args);
      assert.equal(code, 1, args.join(' '));
      assert.equal(stdout, '');
      assert.match(stderr, reported);
      assert.doesNotMatch(stderr, /\n +at /);
    }
  });

  describe('without MONGODB_URI', () => {
    let dataDir: string;

    before(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'platen-accounts-'));
    });
    after(() => rm(dataDir, { recursive: true, force: true }));

    const on = (args: readonly string[]) => platen(args, { environment: { PLATEN_DATA_DIR: dataDir } });

    it('creates no database in an empty folder', async () => {
      const { code, stderr } = await on(['list']);
      assert.equal(code, 1);
      assert.match(stderr, /MONGODB_URI is not set, and .* holds no data/);
    });

    it('opens the embedded database, unless it is in use', async () => {
      await writeFile(join(dataDir, 'secret'), 'as standalone makes it at its first start');
      const made = await on(['create', 'owner@example.com']);
      assert.equal(made.code, 0, made.stderr);
      const [first, second] = await Promise.all([on(['list']), on(['list'])]);
      const responses = [first, second].sort((a, b) => a.code - b.code);
      assert.equal(responses[0]!.code, 0, responses[0]!.stderr);
      assert.match(responses[0]!.stdout, /owner@example\.com/);
      if (responses[1]!.code !== 0)
        assert.match(responses[1]!.stderr, /cannot be opened[\s\S]*in use by another/);
    });
  });
});
