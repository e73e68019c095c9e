import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { codeOf, stepAt } from '../../src/tenants/members/totp.ts';
import { newEmail, PASSWORD, signUp } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { Visitor } from './support/visitor.ts';

const VIEWS = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
] as const;

describe('The members of an account, in the dashboard', () => {
  let service: TestService;
  let connection: Connection;
  let owner: Visitor;
  let guest: Visitor;
  const ownerEmail = newEmail();
  const guestEmail = newEmail();

  before(async () => {
    service = await sharedStandaloneService();
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    await signUp(service.url, ownerEmail);
    await connection
      .collection('accounts')
      .updateOne({ login: ownerEmail }, { $set: { emailVerifiedAt: new Date() } });
    owner = await Visitor.open(service.url);
    guest = await Visitor.open(service.url);
    await owner.signIn(ownerEmail);
  });
  after(async () => {
    await owner?.close();
    await guest?.close();
    await connection?.close();
  });

  /** The token of the newest invitation to an address. */
  async function tokenFor(email: string): Promise<string> {
    const mails = connection.collection<{ content: { values: { token: string } } }>('mails');
    const query = { to: email, 'content.kind': 'team-invitation' };
    await eventually('the mail is in the outbox', async () => (await mails.countDocuments(query)) > 0);
    const [mail] = await mails.find(query).sort({ createdAt: -1 }).toArray();
    return mail!.content.values.token;
  }

  async function invite(email: string, role: string): Promise<string> {
    await owner.go('/members');
    await owner.press('Invite someone');
    await owner.fill('E-mail address', email);
    await owner.page.select('dialog select', role);
    await owner.assertClear(...VIEWS);
    await owner.press('Send invitation');
    await owner.sees(`An invitation is on its way to ${email}`);
    return tokenFor(email);
  }

  it('are invited, accept with a new password, and see what their role may', async () => {
    const email = newEmail();
    const token = await invite(email, 'viewer');
    await owner.sees('Open invitations');
    await guest.go(`/accept-invitation#token=${token}`);
    await guest.sees('You are invited');
    await guest.assertClear(...VIEWS);
    await guest.fill('Choose a password', PASSWORD);
    await guest.press('Accept invitation');
    await guest.sees('Overview');
    const menu = await guest.page.$$eval('nav.side a', (links) => links.map((link) => link.textContent));
    assert.deepEqual(menu, [
      ...['Overview', 'Renders', 'Batches', 'Templates', 'API keys', 'Webhooks', 'Request log'],
      ...['Members', 'Settings', 'Documentation'],
    ]);
    await guest.go('/keys');
    assert.equal(await guest.page.$('::-p-aria([name="New key"][role="button"])'), null);

    await owner.go('/members');
    await owner.sees(email);
    await owner.assertClear(...VIEWS);
    await owner.press(`Change role ${email}`);
    await owner.page.select('dialog select', 'billing');
    await owner.assertClear(...VIEWS);
    await owner.press('Change role');
    await owner.sees('The role is changed.');
    await guest.go('/');
    await guest.sees('Billing');
    assert.match(guest.page.url(), /\/dashboard\/billing$/);

    await owner.press(`Remove ${email}`);
    await owner.press('Remove member');
    await owner.sees(`${email} is no longer a member.`);
    await guest.go('/members');
    await guest.page.waitForFunction(() => window.location.pathname === '/dashboard/sign-in');
    await owner.go('/audit');
    for (const said of ['Removed a member', 'Changed a role', 'Joined the account', 'Invited'])
      await owner.sees(said);
    await owner.sees(email);
  });

  it('with an account of their own switch between both, and become the owner', async () => {
    const email = guestEmail;
    await signUp(service.url, email);
    const token = await invite(email, 'developer');
    await guest.signIn(email);
    await guest.go(`/accept-invitation#token=${token}`);
    await guest.press('Accept invitation');
    await guest.page.waitForFunction(() => /^\/dashboard\/?$/.test(window.location.pathname));
    await guest.settled();
    await guest.page.click('.who summary');
    await guest.sees(ownerEmail);
    await guest.assertClear(...VIEWS);
    await Promise.all([
      guest.page.waitForNavigation(),
      guest.page.click('.who .accounts li:first-child button'),
    ]);
    await guest.settled();
    await guest.go('/members');
    const rows = () => guest.page.$$eval('main tbody tr', (found) => found.map((row) => row.textContent));
    assert.equal((await rows()).length, 1);
    await guest.page.click('.who summary');
    await Promise.all([
      guest.page.waitForNavigation(),
      guest.page.click('.who .accounts li:last-child button'),
    ]);
    await guest.go('/members');
    await guest.sees(ownerEmail);

    await owner.go('/members');
    await owner.press(`Make owner ${email}`);
    await owner.press('Transfer ownership');
    await owner.sees(`${email} owns the account now.`);
    await owner.press('Leave this account');
    await owner.sees('You can no longer open this account.');
    await guest.go('/members');
    await guest.sees('Invite someone');
  });

  it('set up an authenticator app, sign in with its codes, and require it of everyone', async () => {
    await guest.go('/settings');
    await guest.press('Set up an app');
    await guest.sees('Scan the code with your authenticator app');
    await guest.assertClear(...VIEWS);
    const secret = await guest.page.$eval('dialog[open] pre', ({ textContent }) => textContent ?? '');
    const bits = [...secret].map((char) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2));
    const octets = bits
      .map((five) => five.padStart(5, '0'))
      .join('')
      .match(/.{8}/g)!;
    const code = (by: number) =>
      codeOf(Buffer.from(octets.map((octet) => Number.parseInt(octet, 2))), stepAt(new Date()) + by);
    await guest.fill('Code', code(-1));
    await guest.press('Turn on');
    await guest.sees('Your recovery codes');
    await guest.assertClear(...VIEWS);
    const shown = await guest.page.$eval('dialog[open] pre', ({ textContent }) => textContent);
    await guest.press('Close');
    await guest.sees('10 recovery codes are left');
    await guest.go('/members');
    await guest.press('Require it of everyone');
    await guest.sees('Required: only people');
    await guest.assertClear(...VIEWS);
    // The former owner has no app: there are the settings alone.
    await owner.go('/renders');
    await owner.page.waitForFunction(() => window.location.pathname === '/dashboard/settings');
    await owner.sees('This account can only be opened with a second factor.');
    await owner.assertClear(...VIEWS);

    for (const cookie of await guest.page.cookies()) await guest.page.deleteCookie(cookie);
    await guest.go('/sign-in');
    await guest.fill('E-mail address', guestEmail);
    await guest.fill('Password', PASSWORD);
    await guest.press('Sign in');
    await guest.sees('From your authenticator app, or a recovery code.');
    await guest.assertClear(...VIEWS);
    await guest.fill('Code', '000000');
    await guest.press('Sign in');
    await guest.sees('The code is wrong');
    await guest.fill('Code', shown!.split('\n')[0]!);
    await guest.press('Sign in');
    await guest.page.waitForFunction(() => /^\/dashboard\/?$/.test(window.location.pathname));
    await guest.go('/settings');
    await guest.sees('9 recovery codes are left');
    assert.deepEqual(owner.complaints, []);
  });
});
