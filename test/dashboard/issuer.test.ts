import assert from 'node:assert/strict';
import { newEmail } from '../support/account-client.ts';
import { openIssuer, type TestIssuer } from '../support/oidc-issuer.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';
import { Visitor } from './support/visitor.ts';

describe('The dashboard of a service with an OpenID Connect issuer', () => {
  let issuer: TestIssuer;
  let service: TestService;
  let visitor: Visitor;

  before(async () => {
    issuer = await openIssuer();
    service = await openStandaloneService({
      PLATEN_OIDC_ISSUER: issuer.issuer,
      PLATEN_OIDC_AUDIENCE: issuer.audience,
      PLATEN_OIDC_CLIENT_ID: issuer.client.id,
      PLATEN_OIDC_CLIENT_SECRET: issuer.client.secret,
    });
    // The issuer is at 127.0.0.1: for a browser that is another site, from which it brings no cookie that is strict.
    const url = `http://localhost:${new URL(service.url).port}`;
    issuer.client.redirectUris.push(`${url}/auth/oidc/callback`);
    visitor = await Visitor.open(url);
  });
  after(async () => {
    await visitor?.close();
    await service?.stop();
    await issuer?.stop();
  });

  const signIn = () => visitor.page.locator('a ::-p-text(Sign in with your organization)').click();

  it('shows the outcome of signing in at the issuer', async () => {
    issuer.browserOf(undefined);
    await visitor.go('/sign-in');
    await signIn();
    await visitor.sees('Your organization did not sign you in.');
    assert.deepEqual(await visitor.barriers(), []);
  });

  it('returns to the requested page after signing in at the issuer, and stays signed in', async () => {
    const email = newEmail();
    issuer.browserOf({ subject: 'somebody', email });
    await visitor.go('/settings');
    await visitor.sees('Sign in with your organization');
    await signIn();
    await visitor.page.waitForFunction(() => location.pathname === '/dashboard/settings');
    await visitor.sees(email);
    await visitor.sees('Change your password there');
    assert.equal(await visitor.page.$('input[type=password]'), null);
    await visitor.go('/keys');
    await visitor.page.waitForFunction(() => location.pathname === '/dashboard/keys');
  });
});
