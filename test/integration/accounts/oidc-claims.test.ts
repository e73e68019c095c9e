import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { AccountClient, newEmail } from '../../support/account-client.ts';
import { openIssuer, type TestIssuer } from '../../support/oidc-issuer.ts';
import { openApi, type TestApi } from '../http/support/api.ts';

const OTHER_CLIENT = 'a-client-of-somebody-else';
const LOGOUT = { 'http://schemas.openid.net/event/backchannel-logout': {} };

describe('What the issuer signs besides tokens for requests', () => {
  let issuer: TestIssuer;
  let api: TestApi;

  before(async () => {
    issuer = await openIssuer();
    api = await openApi({
      config: {
        PLATEN_OIDC_ISSUER: issuer.issuer,
        PLATEN_OIDC_AUDIENCE: issuer.audience,
        PLATEN_OIDC_CLIENT_ID: issuer.client.id,
      },
    });
  });
  after(async () => {
    await api.close();
    await issuer.stop();
  });

  const named = () => ({ sub: `subject-${randomUUID()}` });
  async function me(claims: Record<string, unknown>, header?: Record<string, unknown>) {
    return new AccountClient(api.url, await issuer.sign(claims, header)).get('/auth/me');
  }
  const accounts = () => api.domain.connection.collection('accounts').countDocuments();

  /** Every token is rejected alone, so no other reason hides one; none of them makes an account. */
  async function assertRejected(
    cases: Record<string, readonly [claims: Record<string, unknown>, header?: Record<string, unknown>]>,
  ): Promise<void> {
    const before = await accounts();
    for (const [name, [claims, header]] of Object.entries(cases)) {
      const { status, json } = await me({ ...named(), ...claims }, header);
      assert.deepEqual([status, json.code], [401, 'UNAUTHENTICATED'], name);
    }
    assert.equal(await accounts(), before);
  }

  it('is rejected when the subject is no text of 1 to 255 characters', async () => {
    await assertRejected({
      'a list': [{ sub: ['somebody'] }],
      'an object': [{ sub: { id: 'somebody' } }],
      'a number': [{ sub: 7 }],
      'an empty text': [{ sub: '' }],
      nothing: [{ sub: undefined }],
      '10,000 characters': [{ sub: 'x'.repeat(10_000) }],
      '256 characters': [{ sub: 'x'.repeat(256) }],
      'a line break': [{ sub: 'one\r\ntwo' }],
      'a NUL': [{ sub: 'one\0' }],
      'half a surrogate pair': [{ sub: 'one\ud800' }],
    });
    assert.equal((await me({ sub: 'x'.repeat(255) })).status, 200);
    assert.equal((await me({ sub: `auth0|ümläut 🙂 ${randomUUID()}` })).status, 200);
  });

  it('gives no address that mail cannot be sent to', async () => {
    for (const email of [
      `${randomUUID()}@example.com\r\nBcc: everybody@example.com`,
      'no address',
      `${'x'.repeat(65)}@example.com`,
      `x@${'y.'.repeat(130)}example.com`,
      ['list@example.com'],
      { address: 'object@example.com' },
      'half\ud800@example.com',
      '',
    ]) {
      const { status, json } = await me({ ...named(), email, email_verified: true });
      assert.deepEqual([status, json.email], [200, null], JSON.stringify(email));
    }
    const email = newEmail();
    for (const isVerified of ['true', 1, {}]) {
      assert.equal((await me({ ...named(), email, email_verified: isVerified })).json.email, null);
    }
    assert.equal((await me({ ...named(), email, email_verified: true })).json.email, email);
  });

  it('keeps the address of an account when a later one cannot be used', async () => {
    const subject = named();
    const email = newEmail();
    await me({ ...subject, email, email_verified: true });
    const { json } = await me({ ...subject, email: `${email}\n`, email_verified: true });
    assert.equal(json.email, email);
  });

  it('is rejected when it is of another profile than an access or ID token', async () => {
    await assertRejected({
      'a logout token': [{ events: LOGOUT }, { typ: 'logout+jwt' }],
      'a logout token without its type': [{ events: LOGOUT }],
      'a logout token without its event': [{}, { typ: 'logout+jwt' }],
      'the full media type': [{}, { typ: 'application/logout+jwt' }],
      'another case': [{}, { typ: 'LOGOUT+JWT' }],
      'a security event': [{}, { typ: 'secevent+jwt' }],
      'a proof of possession': [{}, { typ: 'dpop+jwt' }],
      'an introspection': [{}, { typ: 'token-introspection+jwt' }],
      'an assertion of a client': [{}, { typ: 'client-authentication+jwt' }],
      'a statement of a federation': [{}, { typ: 'entity-statement+jwt' }],
      'events of any kind': [{ events: null }, { typ: 'at+jwt' }],
    });
    for (const typ of ['JWT', 'jwt', 'at+jwt', 'application/at+jwt'])
      assert.equal((await me(named(), { typ })).status, 200, typ);
  });

  it('is rejected when it is an ID token of another client', async () => {
    const both = [issuer.audience, OTHER_CLIENT];
    await assertRejected({
      'for another audience': [{ aud: OTHER_CLIENT, nonce: 'n' }],
      'for both, by its party': [{ aud: both, azp: OTHER_CLIENT }],
      'for both, with a nonce': [{ aud: both, azp: OTHER_CLIENT, nonce: 'n', at_hash: 'h' }],
      'for both, without a party': [{ aud: both, nonce: 'n' }],
      'for this one, by its party': [{ azp: OTHER_CLIENT }],
      'for this one, with hashes': [{ azp: OTHER_CLIENT, at_hash: 'h', scope: 'openid' }],
      'as Keycloak marks it': [{ azp: OTHER_CLIENT, typ: 'ID' }],
      'as Cognito marks it': [{ azp: OTHER_CLIENT, token_use: 'id' }],
      'with a party that is no text': [{ azp: [issuer.audience] }],
    });
  });

  it('is accepted as an ID token of this service, and as an access token of whatever client', async () => {
    for (const claims of [
      { nonce: 'n', at_hash: 'h' },
      { azp: issuer.audience, nonce: 'n' },
      { azp: issuer.client.id, aud: [issuer.audience, issuer.client.id], nonce: 'n' },
      // As Auth0, Keycloak, Okta and Entra ID make access tokens.
      { azp: OTHER_CLIENT, aud: [issuer.audience, `${issuer.issuer}/userinfo`], scope: 'openid email' },
      { azp: OTHER_CLIENT, aud: [issuer.audience, 'account'], typ: 'Bearer', nonce: 'n' },
      { cid: OTHER_CLIENT, scp: ['openid'] },
      { azp: OTHER_CLIENT, azpacr: '1' },
    ])
      assert.equal((await me({ ...named(), ...claims })).status, 200, JSON.stringify(claims));
    const profile = { typ: 'at+jwt' };
    assert.equal((await me({ ...named(), client_id: OTHER_CLIENT, azp: OTHER_CLIENT }, profile)).status, 200);
  });

  it('is rejected with times that are no times', async () => {
    const now = Math.floor(Date.now() / 1000);
    await assertRejected({
      'an end beyond all dates': [{ exp: 1e300 }],
      'a text as its end': [{ exp: `${now + 60}` }],
      'issued in an hour': [{ iat: now + 3600 }],
      'issued never': [{ iat: 'now' }],
      'issued before all times': [{ iat: -1e300 }],
    });
  });
});
