import assert from 'node:assert/strict';
import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import type { CDPSession } from 'puppeteer';
import { newEmail, PASSWORD, signUp } from '../support/account-client.ts';
import { sharedStandaloneService } from '../support/service.ts';
import { Visitor } from './support/visitor.ts';

const VIEWS = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
] as const;

/** One walk, whose steps follow from each other. */
describe('Passkeys, the QR code of an app and the name of an account, in the dashboard', () => {
  let visitor: Visitor;
  let session: CDPSession;
  let authenticatorId: string;
  const email = newEmail();

  before(async () => {
    const service = await sharedStandaloneService();
    await signUp(service.url, email);
    // Passkeys are made for a name, as that of the public address is.
    visitor = await Visitor.open(`http://localhost:${new URL(service.url).port}`);
    session = await visitor.page.createCDPSession();
    await session.send('WebAuthn.enable');
    ({ authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    }));
  });
  after(() => visitor?.close());
  afterEach(() => visitor.assertNoComplaints());

  const inside = () => visitor.page.waitForFunction(() => /^\/dashboard\/?$/.test(window.location.pathname));
  /** Forgets the session. */
  async function signOut(): Promise<void> {
    for (const cookie of await visitor.page.cookies()) await visitor.page.deleteCookie(cookie);
    await visitor.go('/sign-in');
    // What the page before was refused without its session.
    visitor.complaints.splice(0);
  }

  it('are made and renamed in the settings, and bring recovery codes', async () => {
    await visitor.signIn(email);
    await visitor.go('/settings');
    await visitor.assertClear(...VIEWS);
    await visitor.press('Add a passkey');
    await visitor.fill('Name', 'Laptop');
    await visitor.assertClear(...VIEWS);
    await visitor.press('Create passkey');
    await visitor.sees('Your recovery codes');
    await visitor.assertClear(...VIEWS);
    await visitor.press('Close');
    const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
    assert.deepEqual(
      credentials.map(({ isResidentCredential, rpId }) => [isResidentCredential, rpId]),
      [[true, 'localhost']],
    );
    await visitor.press('Rename Laptop');
    await visitor.assertClear(...VIEWS);
    await visitor.fill('Name', 'Old laptop');
    await visitor.press('Rename');
    await visitor.sees('Old laptop');
    await visitor.sees('10 recovery codes are left');
    await visitor.assertClear(...VIEWS);
  });

  it('are one to a device', async () => {
    await visitor.press('Add a passkey');
    await visitor.fill('Name', 'Again');
    await visitor.press('Create passkey');
    await visitor.sees('This device has a passkey for you already.');
    await visitor.press('Close');
  });

  it('sign in without an address, and besides the password', async () => {
    await signOut();
    await visitor.assertClear(...VIEWS);
    await visitor.press('Sign in with a passkey');
    await inside();
    await signOut();
    await visitor.fill('E-mail address', email);
    await visitor.fill('Password', PASSWORD);
    await visitor.press('Sign in');
    await visitor.sees('From your authenticator app, or a recovery code.');
    await visitor.assertClear(...VIEWS);
    await visitor.press('Use a passkey');
    await inside();
    visitor.complaints.splice(0);
  });

  it('are said to be missing where the person is not verified, or chooses none', async () => {
    await signOut();
    await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await visitor.press('Sign in with a passkey');
    await visitor.sees('No passkey was chosen in time.');
    await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await visitor.press('Sign in with a passkey');
    await inside();
  });

  it('do not sign in once they are removed', async () => {
    await visitor.go('/settings');
    await visitor.press('Remove Old laptop');
    await visitor.assertClear(...VIEWS);
    await visitor.press('Remove');
    await visitor.sees('The passkey is removed.');
    await signOut();
    await visitor.press('Sign in with a passkey');
    await visitor.sees('The passkey was not accepted');
    await visitor.assertClear(...VIEWS);
    visitor.complaints.splice(0);
    await visitor.signIn(email);
  });

  it('show an app its key as a QR code', async () => {
    await visitor.go('/settings');
    await visitor.setView({ width: 1280, scheme: 'dark' });
    await visitor.press('Set up an app');
    const picture = await visitor.page.waitForSelector('dialog[open] svg.qr-code');
    const { data, width, height } = PNG.sync.read(Buffer.from(await picture!.screenshot()));
    const uri = await visitor.page.$eval('dialog[open] a', (link) => link.getAttribute('href'));
    assert.match(uri ?? '', /^otpauth:\/\/totp\/Platen:.+secret=[A-Z2-7]{32}/);
    assert.equal(jsQR.default(new Uint8ClampedArray(data), width, height)?.data, uri);
    await visitor.assertClear(...VIEWS);
    await visitor.press('Close');
  });

  it('name the account for everyone', async () => {
    await visitor.go('/settings');
    await visitor.sees('example.com');
    await visitor.fill('Account name', 'Analytical Engines');
    await visitor.press('Change name');
    await visitor.page.waitForFunction(
      () => document.querySelector('.who summary .words')?.textContent === 'Analytical Engines',
    );
    await visitor.go('/audit');
    await visitor.sees('Renamed the account');
    await visitor.sees('Removed a passkey');
  });
});
