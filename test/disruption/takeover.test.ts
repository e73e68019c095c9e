import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { AccountClient, newEmail, PASSWORD, signUp } from '../support/account-client.ts';
import { SAME_ORIGIN } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/send.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';

const NEW_PASSWORD = 'quite another battery, and staple';
/** Accounts that are taken over when the process is killed. */
const AT_ONCE = 8;
/** How long after the first of these requests, in milliseconds. */
const KILLED_AFTER = [20, 60, 120, 200];
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Victim {
  readonly email: string;
  readonly key: string;
  readonly link: string;
}

interface StoredAccount {
  readonly _id: string;
  readonly ownerFence?: number;
  readonly emailVerifiedAt?: Date;
}

describe('kill -9 of the process that gives accounts to the owners of their addresses', () => {
  let service: TestService;
  let connection: Connection;

  before(async () => {
    service = await openStandaloneService({ PLATEN_TRUSTED_PROXIES: '1' });
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  });
  after(async () => {
    await connection?.close();
    await service?.stop();
  });

  const mails = () =>
    connection.collection<{ content: { values: { token: string } }; createdAt: Date }>('mails');
  let lastAddress = 0;
  /** Sends a request like a page, from a new address, so that no bound of a network ends it. */
  const page = (path: string, body: unknown) =>
    send(service.url, 'POST', path, body, {
      ...SAME_ORIGIN,
      'x-forwarded-for': `198.51.${++lastAddress >> 8}.${lastAddress & 255}`,
    });

  /** Somebody has registered an address, and its owner has a link. */
  async function victim(): Promise<Victim> {
    const email = newEmail();
    const client = await signUp(service.url, email);
    const { apiKey: key } = await client.expect(201, 'POST', '/user/api-keys', { name: 'k', mode: 'live' });
    return { email, key, link: await linkTo(email) };
  }

  async function linkTo(email: string): Promise<string> {
    const query = { to: email, 'content.kind': 'password-reset' };
    const before = await mails().countDocuments(query);
    assert.equal((await page('/auth/forgot', { email })).status, 202);
    await eventually('the link is in the outbox', async () => (await mails().countDocuments(query)) > before);
    const [last] = await mails().find(query).sort({ createdAt: -1 }).limit(1).toArray();
    return last!.content.values.token;
  }

  const keyWorks = async (key: string) =>
    (await send(service.url, 'GET', '/v1/pdf/jobs', undefined, { 'x-api-key': key })).status === 200;
  const signsIn = async (email: string, password: string) =>
    (await page('/auth/login', { email, password })).status === 200;

  for (const after of KILLED_AFTER) {
    it(`leaves each account as it was, or gives it to its owner alone (after ${after} ms)`, async () => {
      const victims: Victim[] = [];
      for (let i = 0; i < AT_ONCE; i += 1) victims.push(await victim());
      const resets = victims.map(({ link }) =>
        page('/auth/reset', { token: link, password: NEW_PASSWORD }).catch(() => undefined),
      );
      await pause(after);
      await service.roles.get('standalone')!.end('SIGKILL');
      await Promise.all(resets);
      await service.restart('standalone');
      const accounts = connection.collection<StoredAccount & { login: string }>('accounts');
      for (const { email, key } of victims) {
        const account = await accounts.findOne({ login: email });
        const isTaken = account?.ownerFence === 1;
        assert.equal(account?.emailVerifiedAt !== undefined, isTaken);
        assert.equal(await keyWorks(key), !isTaken);
        assert.equal(await signsIn(email, PASSWORD), !isTaken);
        if (!isTaken) {
          const token = await linkTo(email);
          assert.equal((await page('/auth/reset', { token, password: NEW_PASSWORD })).status, 200);
          assert.equal(await keyWorks(key), false);
        }
        assert.equal(await signsIn(email, NEW_PASSWORD), true);
        const login = await page('/auth/login', { email, password: NEW_PASSWORD });
        const owner = new AccountClient(service.url, login.json.accessToken);
        await eventually('the key is listed as revoked, and the owner is notified', async () => {
          const { keys } = await owner.expect(200, 'GET', '/user/api-keys');
          const notified = await mails().countDocuments({ to: email, 'content.kind': 'account-taken-over' });
          assert.ok(notified <= 1);
          return keys[0].status === 'revoked' && notified === 1;
        });
      }
    });
  }
});
