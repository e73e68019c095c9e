import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { AccountClient, newEmail } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';
import { Visitor } from './support/visitor.ts';

const PASSWORD = 'a long enough pass phrase';
const NEW_PASSWORD = 'another long enough pass phrase';

describe('The dashboard of a service whose live keys need a confirmed address', () => {
  let service: TestService;
  let connection: Connection;
  let visitor: Visitor;

  before(async () => {
    service = await openStandaloneService({ PLATEN_CONFIRM_ADDRESS: 'required' });
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    visitor = await Visitor.open(service.url);
  });
  after(async () => {
    await visitor?.close();
    await connection?.close();
    await service?.stop();
  });

  /** The tokens of the links that confirm an address, once there are so many. */
  async function links(email: string, count: number): Promise<string[]> {
    const mails = connection.collection<{ content: { values: { token: string } } }>('mails');
    const query = { to: email, 'content.kind': 'email-verification' };
    await eventually('the mail is in the outbox', async () => (await mails.countDocuments(query)) === count);
    const found = await mails.find(query).sort({ createdAt: 1 }).toArray();
    return found.map(({ content }) => content.values.token);
  }

  async function register(): Promise<string> {
    const email = newEmail();
    await visitor.go('/register');
    await visitor.fill('E-mail address', email);
    await visitor.fill('Password', PASSWORD);
    await visitor.press('Create account');
    await visitor.sees('Your first document');
    return email;
  }

  async function signOut(): Promise<void> {
    for (const cookie of await visitor.page.cookies()) await visitor.page.deleteCookie(cookie);
  }

  it('says why there are no live keys yet, sends the link, and has them once it was opened', async () => {
    const email = await register();
    await visitor.go('/keys');
    await visitor.sees(`Confirm your e-mail address, ${email}`);
    await visitor.assertClear({ width: 320, scheme: 'light' }, { width: 1280, scheme: 'dark' });
    await visitor.press('Send confirmation e-mail');
    await visitor.sees('We have sent you an e-mail with a link');
    const [, token] = await links(email, 2);
    await visitor.go(`/verify-email#token=${token}`);
    await visitor.press('Confirm this address');
    await visitor.sees('Your e-mail address is confirmed.');
    await visitor.go('/keys');
    await visitor.sees('Your services send a key with each request');
    await eventually('nothing is missing any more', async () => {
      await visitor.go('/keys');
      return !(await visitor.page.content()).includes('Send confirmation e-mail');
    });
  });

  it('asks whoever is not signed in for the password, or gives the account to a new owner', async () => {
    const email = await register();
    const [token] = await links(email, 1);
    await signOut();
    await visitor.go(`/verify-email#token=${token}`);
    await visitor.press('Confirm this address');
    await visitor.sees('The account was made on');
    await visitor.sees('has 0 active API keys');
    await visitor.assertClear({ width: 320, scheme: 'dark' }, { width: 1280, scheme: 'light' });
    await visitor.fill('Password', 'not the password');
    await visitor.press('Confirm address');
    await visitor.sees('The password is wrong.');
    await visitor.fill('New password', NEW_PASSWORD);
    await visitor.press('Take over the account');
    await visitor.sees('The account is yours.');
    const login = await fetch(`${service.url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: NEW_PASSWORD }),
    });
    const { accessToken } = (await login.json()) as { accessToken: string };
    const me = await new AccountClient(service.url, accessToken).get('/auth/me');
    assert.deepEqual([me.json.emailConfirmed, me.json.confirmationNeeded], [true, false]);
  });

  it('names the templates that the new owner has not saved', async () => {
    const email = await register();
    await visitor.go('/templates');
    await visitor.press('New template');
    // The dialog is loaded when it is opened.
    await visitor.page.waitForSelector('.beginning');
    await visitor.fill('Name', 'invoice');
    await visitor.press('Create template');
    await visitor.page.waitForFunction(() => /\/templates\/./.test(location.pathname));
    const [token] = await links(email, 1);
    await signOut();
    await visitor.go(`/verify-email#token=${token}`);
    await visitor.press('Confirm this address');
    await visitor.sees('The account was made on');
    await visitor.fill('New password', NEW_PASSWORD);
    await visitor.press('Take over the account');
    await visitor.sees('The account is yours.');
    await visitor.go('/sign-in');
    await visitor.fill('E-mail address', email);
    await visitor.fill('Password', NEW_PASSWORD);
    await visitor.press('Sign in');
    await visitor.page.waitForFunction(() => location.pathname === '/dashboard/');
    await visitor.go('/templates');
    await visitor.sees('Some of these templates were saved before you took over the account');
    await visitor.assertClear({ width: 320, scheme: 'light' });
  });
});
