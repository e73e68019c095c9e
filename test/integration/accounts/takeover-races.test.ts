import assert from 'node:assert/strict';
import { PASSWORD } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';
import { FirstPerson } from './support/first-person.ts';
import { forgotten, sendAsPage } from './support/mailed-links.ts';

const NEW_PASSWORD = 'quite another battery, and staple';
const TRIES = 20;
const MINUTE_MS = 60_000;
const ASYNC = { html: '<p>x</p>', executionMode: 'async' };

describe('A takeover at the same moment as requests of the first person, at two processes', () => {
  let api: TestApi;
  let other: TestApi;

  before(async () => {
    const { uri } = await startMongo();
    const plan = { maxActiveKeys: 10_000, maxWaitingJobs: 10_000 };
    api = await openApi({ uri, plan, trustedProxies: 1 });
    other = await openApi({ uri, plan, trustedProxies: 1 });
  });
  after(async () => {
    await other.close();
    await api.close();
  });

  /** What the first person has got out of the service until the end. */
  interface Loot {
    readonly keys: string[];
    readonly tokens: string[];
    readonly signing: string[];
    jobs: number;
  }

  /** Repeats every request that gives access, until the takeover is over. */
  async function grab(first: FirstPerson, loot: Loot, isOver: () => boolean): Promise<void> {
    const at = (process: TestApi) => first.client.at(process.url);
    const begin = [
      async (process: TestApi) => {
        const { status, json } = await at(process).call('POST', '/user/api-keys', {
          name: 'k',
          mode: 'live',
        });
        if (status !== 201) return;
        loot.keys.push(json.apiKey);
        const rotated = await at(process).call('POST', `/user/api-keys/${json.id}/rotate`);
        if (rotated.status === 200) loot.keys.push(rotated.json.apiKey);
      },
      async (process: TestApi) => {
        const { status, json } = await at(process).call('POST', '/user/webhook-keys/rotate');
        if (status === 200) loot.signing.push(json.secret);
      },
      async (process: TestApi) => {
        const headers = { 'x-forwarded-for': '203.0.113.5' };
        const credentials = { email: first.email, password: PASSWORD };
        const { status, json } = await callApi(process.url, 'POST', '/auth/login', credentials, headers);
        if (status === 200) loot.tokens.push(json.accessToken);
      },
      async (process: TestApi) => {
        const { status } = await callApi(process.url, 'POST', '/v1/pdf', ASYNC, {
          'x-api-key': first.liveKey,
        });
        if (status === 202) loot.jobs += 1;
      },
      async (process: TestApi) => {
        const { status } = await at(process).call('POST', '/user/renders', { ...ASYNC, mode: 'live' });
        if (status === 202) loot.jobs += 1;
      },
    ];
    await Promise.all(
      [api, other].flatMap((process) =>
        begin.map(async (request) => {
          // Once more after the takeover, too.
          for (let more = true; more; ) {
            more = !isOver();
            await request(process);
          }
        }),
      ),
    );
  }

  it('leaves the first person nothing, in many tries', async () => {
    const got = { keys: 0, tokens: 0, signing: 0, jobs: 0 };
    for (let tries = 0; tries < TRIES; tries += 1) {
      const first = await FirstPerson.register(api);
      const token = await forgotten(api, first.email);
      const loot: Loot = { keys: [], tokens: [], signing: [], jobs: 0 };
      let isOver = false;
      const grabbing = grab(first, loot, () => isOver);
      const reset = sendAsPage(tries % 2 === 0 ? api : other, '/auth/reset', {
        token,
        password: NEW_PASSWORD,
      });
      assert.equal((await reset).status, 200);
      isOver = true;
      await grabbing;
      // A process knows within a second what another has written.
      for (const process of [api, other]) process.domain.clock.pass(1000);
      for (const process of [api, other]) {
        for (const key of [first.liveKey, first.testKey, ...loot.keys]) {
          const { status } = await callApi(process.url, 'GET', '/v1/pdf/jobs', undefined, {
            'x-api-key': key,
          });
          assert.equal(status, 401);
        }
        for (const accessToken of [first.client.token, ...loot.tokens]) {
          const bearer = { authorization: `Bearer ${accessToken}` };
          assert.equal((await callApi(process.url, 'GET', '/auth/me', undefined, bearer)).status, 401);
        }
      }
      const account = await api.accounts.findNow(first.accountId);
      const signing = await api.domain.callbacks.keys.signing(first.accountId, account!.ownerFence);
      assert.ok(signing.every(({ secret }) => !loot.signing.includes(secret)));
      const { keys } = await api.keys.list(first.accountId, {
        status: 'active',
        sort: 'created_asc',
        limit: 100,
        offset: 0,
      });
      assert.deepEqual(keys, [], 'none is even listed as active');
      for (const name of ['keys', 'tokens', 'signing'] as const) got[name] += loot[name].length;
      got.jobs += loot.jobs;
    }
    for (const [name, count] of Object.entries(got)) assert.ok(count > 0, `it has raced for ${name}`);
    // What was admitted a moment after the takeover ends a minute after it.
    for (const process of [api, other]) process.domain.clock.pass(MINUTE_MS);
    for (let left = 1; left > 0; ) {
      await api.tenants.takeover.sweep();
      left = await api.domain.connection.collection('account_takeovers').countDocuments();
    }
    const live = await api.domain.connection.collection('jobs').countDocuments({ expiresAt: null });
    assert.equal(live, 0);
  });

  it('leaves no password of the first person, who changes it at that moment', async () => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const first = await FirstPerson.register(api);
      const token = await forgotten(api, first.email);
      const theirs = 'the next password of the first person';
      const change = first.client
        .at(tries % 2 === 0 ? api.url : other.url)
        .call('POST', '/auth/password', { currentPassword: PASSWORD, newPassword: theirs });
      await new Promise((resolve) => setTimeout(resolve, tries * 4));
      const reset = await sendAsPage(api, '/auth/reset', { token, password: NEW_PASSWORD });
      assert.equal(reset.status, 200, 'a change before it does not end the link');
      const { status } = await change;
      assert.ok([200, 401, 403].includes(status));
      const login = (password: string) => sendAsPage(api, '/auth/login', { email: first.email, password });
      assert.equal((await login(NEW_PASSWORD)).status, 200);
      for (const password of [theirs, PASSWORD]) assert.equal((await login(password)).status, 401);
    }
  });

  it('happens once when two links are used at the same moment', async () => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const first = await FirstPerson.register(api);
      const tokens = [await forgotten(api, first.email), await forgotten(other, first.email)];
      const passwords = ['the first new password', 'the second new password'];
      const responses = await Promise.all(
        tokens.map((token, i) =>
          sendAsPage(i === 0 ? api : other, '/auth/reset', { token, password: passwords[i] }),
        ),
      );
      const done = responses.map(({ status }) => status === 200);
      // One after the other, the second may come so late that it resets the password of a confirmed account.
      assert.ok(done.includes(true));
      const account = await api.accounts.findNow(first.accountId);
      assert.equal(account?.ownerFence, 1);
      const mails = api.domain.connection.collection('mails');
      const query = { to: first.email, 'content.kind': 'account-taken-over' };
      assert.equal(await mails.countDocuments(query), 1);
    }
  });
});
