import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose, { type Connection } from 'mongoose';
import { newEmail, signUp } from '../support/account-client.ts';
import { SERVER } from '../support/certificates.ts';
import { openIssuer, type TestIssuer } from '../support/oidc-issuer.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';
import { Visitor } from './support/visitor.ts';

const VIEWS = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
] as const;
const DOMAIN = 'engines.example';

/** One walk, whose steps follow from each other. */
describe('Single sign-on with an issuer of one’s own, in the dashboard', () => {
  let folder: string;
  let issuer: TestIssuer;
  let service: TestService;
  let connection: Connection;
  let owner: Visitor;
  let member: Visitor;
  const email = `ada@${DOMAIN}`;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-domains-'));
    await writeFile(join(folder, 'authority.pem'), SERVER.cert);
    issuer = await openIssuer(undefined, true);
    service = await openStandaloneService({ NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') });
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    const url = `http://localhost:${new URL(service.url).port}`;
    const ownerEmail = newEmail();
    await signUp(service.url, ownerEmail);
    owner = await Visitor.open(url);
    member = await Visitor.open(url);
    await (await member.page.createCDPSession()).send('Security.setIgnoreCertificateErrors', {
      ignore: true,
    });
    await owner.signIn(ownerEmail);
  });
  after(async () => {
    await owner?.close();
    await member?.close();
    await connection?.close();
    await service?.stop();
    await issuer?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('is set up by the owner, who is told what to publish', async () => {
    await owner.go('/members');
    await owner.press('Add a domain');
    await owner.fill('Domain', DOMAIN);
    await owner.fill('Issuer', issuer.issuer);
    await owner.fill('Client id', issuer.client.id);
    await owner.fill('Client secret', issuer.client.secret);
    await owner.assertClear(...VIEWS);
    await owner.press('Add domain');
    await owner.sees(`_platen.${DOMAIN}`);
    await owner.assertClear(...VIEWS);
    const [redirectUri = ''] = await owner.page.$$eval('dialog[open] pre', (found) =>
      found.map(({ textContent }) => textContent),
    );
    assert.match(redirectUri, new RegExp(`^http://localhost:\\d+/auth/oidc/callback/${DOMAIN}$`));
    issuer.client.redirectUris.push(redirectUri);
    await owner.press('Verify domain');
    // Either there is no such record, or these machines have no name servers.
    await owner.page.waitForSelector('dialog[open] [role="alert"]');
    await owner.assertClear(...VIEWS);
    await owner.press('Close');
    await owner.sees('Not verified yet');
    // As if the record had been found.
    const verified = { heldDomain: DOMAIN, verifiedAt: new Date() };
    await connection.collection('sign_in_domains').updateOne({ domain: DOMAIN }, { $set: verified });
    owner.complaints.splice(0);
  });

  it('signs people in by their address, as members', async () => {
    await member.go('/sign-in');
    await member.press('Single sign-on');
    await member.sees('Enter your e-mail address first.');
    await member.assertClear(...VIEWS);
    await member.fill('E-mail address', 'x@nobodys.example');
    await member.press('Single sign-on');
    await member.sees('Nobody signs in through an organization with this address here.');
    await member.assertClear(...VIEWS);
    issuer.browserOf({ subject: 'ada', email });
    await member.fill('E-mail address', email);
    await member.press('Single sign-on');
    await member.page.waitForFunction(() => /^\/dashboard\/?$/.test(window.location.pathname));
    await member.go('/settings');
    await member.sees(email);
    await member.sees('You sign in through your organization.');
    await member.go('/sign-in?domain=engines.example');
    await member.sees(`Sign in at ${DOMAIN}`);
    await member.assertClear(...VIEWS);
  });

  it('is required of members by the owner, and removed with them', async () => {
    await owner.go('/members');
    await owner.sees(email);
    await owner.press(`Change ${DOMAIN}`);
    await owner.page.click('dialog[open] input[type=checkbox]');
    await owner.assertClear(...VIEWS);
    await owner.press('Change domain');
    await owner.sees('Viewer, required');
    await owner.assertClear(...VIEWS);
    await owner.press(`Remove ${DOMAIN}`);
    await owner.assertClear(...VIEWS);
    await owner.press('Remove');
    await owner.sees(`${DOMAIN} is removed.`);
    await member.go('/settings');
    await member.page.waitForFunction(() => window.location.pathname === '/dashboard/sign-in');
    assert.deepEqual(owner.complaints, []);
  });
});
