import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { OidcIssuer } from '../../../src/tenants/accounts/oidc-issuer.ts';
import { OidcVerifier } from '../../../src/tenants/accounts/oidc-verifier.ts';
import { AccountClient, newEmail, signUp } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { startMongo } from '../../support/mongo.ts';
import { openIssuer, type TestIssuer } from '../../support/oidc-issuer.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { FirstPerson } from './support/first-person.ts';
import { forgotten, sendAsPage } from './support/mailed-links.ts';

describe('Tokens of an OpenID Connect issuer', () => {
  let issuer: TestIssuer;
  let impostor: TestIssuer;
  let api: TestApi;
  let other: TestApi;

  before(async () => {
    issuer = await openIssuer();
    impostor = await openIssuer();
    const { uri } = await startMongo();
    const config = { PLATEN_OIDC_ISSUER: issuer.issuer, PLATEN_OIDC_AUDIENCE: issuer.audience };
    api = await openApi({ uri, config });
    other = await openApi({ uri, config });
  });
  after(async () => {
    await other.close();
    await api.close();
    await impostor.stop();
    await issuer.stop();
  });

  const as = (token: string) => new AccountClient(api.url, token);
  const newSubject = () => `subject-${randomUUID()}`;

  it('create an account at their first use, the same in every process', async () => {
    const subject = { subject: newSubject(), email: newEmail() };
    const tokens = [await issuer.token(subject), await issuer.token(subject)];
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        as(tokens[n % 2]!)
          .at(n % 4 < 2 ? api.url : other.url)
          .expect(200, 'GET', '/auth/me'),
      ),
    );
    assert.equal(new Set(responses.map(({ id }) => id)).size, 1);
    assert.equal(responses[0].email, subject.email);
    assert.equal(responses[0].plan, 'free');
    const log = await as(tokens[0]!).expect(200, 'GET', '/user/audit-log');
    assert.deepEqual(
      log.entries.map(({ action }: { action: string }) => action),
      ['account.registered'],
    );
    assert.equal(log.entries[0].details.issuer, issuer.issuer);
  });

  it('belong to one account for each subject, with all features of an account', async () => {
    const [one, two] = [
      as(await issuer.token({ subject: newSubject() })),
      as(await issuer.token({ subject: newSubject() })),
    ];
    await one.expect(201, 'POST', '/user/api-keys', { name: 'key' });
    assert.equal((await one.expect(200, 'GET', '/user/api-keys')).total, 1);
    assert.equal((await two.expect(200, 'GET', '/user/api-keys')).total, 0);
  });

  it('do not open an account that was registered with the same address', async () => {
    const email = newEmail();
    const registered = await (await signUp(api.url, email)).expect(200, 'GET', '/auth/me');
    const federated = await as(await issuer.token({ subject: newSubject(), email })).expect(
      200,
      'GET',
      '/auth/me',
    );
    assert.notEqual(federated.id, registered.id);
    assert.equal(federated.email, email);
  });

  it('give an account its address only when the issuer has verified it, and update it', async () => {
    const subject = newSubject();
    const email = newEmail();
    const unverified = await issuer.token({ subject, email, emailVerified: false });
    assert.equal((await as(unverified).expect(200, 'GET', '/auth/me')).email, null);
    const verified = await issuer.token({ subject, email: email.toUpperCase() });
    assert.equal((await as(verified).expect(200, 'GET', '/auth/me')).email, email);
  });

  it('keep an account that a reset of the same address does not reach, also when the address moves at the issuer', async () => {
    const subject = newSubject();
    const [email, moved] = [newEmail(), newEmail()];
    const federated = as(await issuer.token({ subject, email }));
    const { apiKey } = await federated.expect(201, 'POST', '/user/api-keys', { name: 'key' });
    // Somebody registers either address here, and its owner takes that account over.
    for (const address of [email, moved]) {
      const first = await FirstPerson.register(api, address);
      const token = await forgotten(api, address);
      const body = { token, password: 'quite another battery, and staple' };
      assert.equal((await sendAsPage(api, '/auth/reset', body)).status, 200);
      await first.assertEnded();
    }
    const later = as(await issuer.token({ subject, email: moved }));
    const { id, email: shown } = await later.expect(200, 'GET', '/auth/me');
    assert.equal(shown, moved);
    assert.equal(id, (await federated.expect(200, 'GET', '/auth/me')).id);
    const jobs = await fetch(`${api.url}/v1/pdf/jobs`, { headers: { 'x-api-key': apiKey } });
    assert.equal(jobs.status, 200);
  });

  it('are valid until a minute after they expire, for clocks that differ', async () => {
    const client = as(await issuer.token({ subject: newSubject() }, { lifetimeS: 30 }));
    await client.expect(200, 'GET', '/auth/me');
    api.domain.clock.pass(80_000);
    await client.expect(200, 'GET', '/auth/me');
    api.domain.clock.pass(15_000);
    await client.expect(401, 'GET', '/auth/me');
    api.domain.clock.pass(-95_000);
  });

  it('are rejected when they are for another service, by another issuer, altered or unsigned', async () => {
    const subject = newSubject();
    const good = await issuer.token({ subject });
    const [header, payload, signature] = good.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const shared = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' });
    for (const [name, token] of Object.entries({
      'another audience': await issuer.token({ subject }, { audience: 'https://elsewhere.test/' }),
      'another issuer': await impostor.token({ subject }, { audience: issuer.audience }),
      'another subject': `${header}.${encoded({ ...claims, sub: 'somebody else' })}.${signature}`,
      'no signature': `${encoded({ alg: 'none' })}.${payload}.`,
      'a shared key': await shared.sign(Buffer.from('a key that is no key of the issuer')),
      'no token': `${header}.${payload}`,
    })) {
      assert.equal((await as(token).get('/auth/me')).status, 401, name);
    }
    await as(good).expect(200, 'GET', '/auth/me');
  });

  it('are revoked by a logout, and with all tokens of the account', async () => {
    const subject = newSubject();
    const [first, second] = [as(await issuer.token({ subject })), as(await issuer.token({ subject }))];
    await first.at(other.url).expect(200, 'GET', '/auth/me');
    await first.expect(200, 'POST', '/auth/logout');
    await first.expect(401, 'GET', '/auth/me');
    const { id } = await second.expect(200, 'GET', '/auth/me');
    await api.accounts.endTokens(id);
    await second.expect(401, 'GET', '/auth/me');
    await sleep(1000);
    await first.at(other.url).expect(401, 'GET', '/auth/me');
    await second.at(other.url).expect(401, 'GET', '/auth/me');
    await as(await issuer.token({ subject })).expect(200, 'GET', '/auth/me');
  });

  it('are verified with keys that are fetched once', async () => {
    const before = issuer.keyRequests();
    for (let n = 0; n < 20; n += 1) await as(await issuer.token({ subject: newSubject() })).get('/auth/me');
    assert.equal(issuer.keyRequests(), before);
  });

  describe('While the issuer is unreachable, its tokens', () => {
    /** A process that has not seen the issuer yet. */
    async function freshly(test: (fresh: TestApi, client: AccountClient) => Promise<void>): Promise<void> {
      const client = as(await issuer.token({ subject: newSubject() }));
      const config = { PLATEN_OIDC_ISSUER: issuer.issuer, PLATEN_OIDC_AUDIENCE: issuer.audience };
      const fresh = await openApi({ config });
      try {
        await test(fresh, client.at(fresh.url));
      } finally {
        await fresh.close();
      }
    }

    it('are neither valid nor invalid, until it is reachable', async () => {
      await freshly(async (fresh, client) => {
        await issuer.stop();
        const response = await client.get('/auth/me');
        assert.equal(response.status, 503);
        assert.equal(response.json.code, 'UNAVAILABLE');
        const seconds = Number(response.headers.get('retry-after'));
        assert.ok(seconds >= 1 && seconds <= 5);
        // A token that names another issuer is rejected even without keys.
        const foreign = await impostor.token({ subject: newSubject() }, { audience: issuer.audience });
        for (const token of ['nonsense', 'a.b.c', foreign]) {
          assert.equal((await new AccountClient(fresh.url, token).get('/auth/me')).status, 401, token);
        }
        await issuer.start();
        fresh.domain.clock.pass(seconds * 1000);
        await client.expect(200, 'GET', '/auth/me');
      });
    });

    it('do not block requests', async () => {
      await freshly(async (fresh, client) => {
        issuer.hang(true);
        const requests = issuer.hungRequests();
        const responses = await Promise.all([client.get('/auth/me'), client.get('/auth/me')]);
        assert.deepEqual(
          responses.map(({ status }) => status),
          [503, 503],
        );
        assert.equal((await client.get('/auth/me')).status, 503);
        // The first two share the request; the third does not wait for it.
        assert.equal(issuer.hungRequests() - requests, 1);
        // Accounts with a password are not affected.
        await signUp(fresh.url);
        issuer.hang(false);
      });
    });

    it('do not block requests when its keys have expired', async () => {
      const { clock } = api.domain;
      const verifier = new OidcVerifier({
        clientId: undefined,
        issuer: new OidcIssuer({ issuer: issuer.issuer, clock }),
        audience: issuer.audience,
        clock,
        keysCacheMs: 50,
      });
      const token = await issuer.token({ subject: newSubject() });
      assert.ok(await verifier.verify(token));
      await sleep(60);
      issuer.hang(true);
      await assert.rejects(verifier.verify(token), { code: 'UNAVAILABLE' });
      const requests = issuer.hungRequests();
      await assert.rejects(verifier.verify(token), { code: 'UNAVAILABLE' });
      assert.equal(issuer.hungRequests(), requests, 'no further request is sent');
      issuer.hang(false);
      clock.pass(5000);
      assert.ok(await verifier.verify(token));
      clock.pass(-5000);
    });

    it('are verified without new metadata an hour after the last', async () => {
      const { clock } = api.domain;
      const verifier = new OidcVerifier({
        clientId: undefined,
        issuer: new OidcIssuer({ issuer: issuer.issuer, clock }),
        audience: issuer.audience,
        clock,
      });
      const token = await issuer.token({ subject: newSubject() }, { lifetimeS: 7200 });
      assert.ok(await verifier.verify(token));
      issuer.hang(true);
      clock.pass(3_600_000);
      const requests = issuer.hungRequests();
      for (let tries = 0; tries < 3; tries += 1) assert.ok(await verifier.verify(token));
      await eventually('a request', () => issuer.hungRequests() > requests);
      assert.equal(issuer.hungRequests() - requests, 1, 'one request, by the first caller');
      issuer.hang(false);
      clock.pass(-3_600_000);
    });

    it('are verified while its keys are cached', async () => {
      const client = as(await issuer.token({ subject: newSubject() }));
      await issuer.stop();
      await client.expect(200, 'GET', '/auth/me');
      await issuer.start();
    });
  });
});
