import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newEmail, PASSWORD } from '../../support/account-client.ts';
import { type Browser, cookieOf, openBrowser, SAME_ORIGIN } from '../../support/browser.ts';
import { openIssuer, type TestIssuer } from '../../support/oidc-issuer.ts';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';
import { actingFor, newMember } from './support/member.ts';
import { RedirectedBrowser } from './support/redirected-browser.ts';

describe('Signing in at the issuer of a mail domain', () => {
  let issuer: TestIssuer;
  let evil: TestIssuer;
  let api: TestApi;
  /** TXT records by name. */
  const texts = new Map<string, string[]>();
  let asked: string[] = [];

  before(async () => {
    [issuer, evil] = [await openIssuer(undefined, true), await openIssuer(undefined, true)];
    api = await openApi({
      trustedProxies: 1,
      config: { PLATEN_ALLOWED_PRIVATE_NETWORKS: ['127.0.0.1/32'] },
      lookupText: async (name) => {
        asked.push(name);
        if (name.includes('unreachable')) throw new Error('no name server answers');
        return texts.get(name) ?? [];
      },
    });
  });
  beforeEach(() => {
    asked = [];
  });
  after(async () => {
    await api.close();
    await issuer.stop();
    await evil.stop();
  });

  const newDomain = () => `${randomUUID()}.example`;
  const start = (domain: string) => `${api.url}/auth/oidc/start?domain=${domain}&returnTo=/dashboard/renders`;

  async function claim(owner: Browser, domain: string, of = issuer, role = 'developer') {
    const { id: clientId, secret: clientSecret, redirectUris } = of.client;
    const body = { domain, issuer: of.issuer, clientId, clientSecret, role };
    const claimed = await owner.expect(201, 'POST', '/user/domains', body);
    redirectUris.push(claimed.redirectUri);
    return claimed;
  }

  const publish = ({ proof }: { proof: { name: string; value: string } }) =>
    texts.set(proof.name, [...(texts.get(proof.name) ?? []), 'v=spf1 -all', proof.value]);

  /** An account whose people of a domain sign in at the issuer. */
  async function withDomain(of = issuer, domain = newDomain()) {
    const owner = await openBrowser(api.url);
    const claimed = await claim(owner, domain, of);
    publish(claimed);
    await owner.expect(200, 'POST', `/user/domains/${domain}/verification`);
    const { id: accountId } = await owner.expect(200, 'GET', '/auth/me');
    return { owner, domain, accountId, claimed };
  }

  /** Signs somebody in. @returns the browser, and the page that it is on. */
  async function signIn(domain: string, subject: Parameters<TestIssuer['browserOf']>[0], of = issuer) {
    of.browserOf(subject);
    const browser = new RedirectedBrowser(api.url);
    return { browser, page: await browser.signIn(start(domain)) };
  }
  const somebody = (domain: string) => ({ subject: randomUUID(), email: `${randomUUID()}@${domain}` });

  it('makes people members with the role that the owner has set, and knows them again', async () => {
    const { owner, domain, accountId } = await withDomain();
    const subject = somebody(domain);
    const { browser, page } = await signIn(domain, subject);
    assert.equal(page, `${api.url}/dashboard/renders`);
    const me = await browser.account();
    assert.deepEqual(
      [me.id, me.email, me.role, me.signInBy, me.secondFactor],
      [accountId, subject.email, 'developer', 'issuer', true],
    );
    assert.equal((await browser.call('GET', '/user/renders')).status, 200);
    const again = await signIn(domain, subject);
    assert.equal((await again.browser.account()).personId, me.personId);
    const { members } = await owner.expect(200, 'GET', '/user/members');
    assert.deepEqual(
      members.map(({ role }: { role: string }) => role),
      ['owner', 'developer'],
    );
    const { entries } = await owner.expect(200, 'GET', '/user/audit-log');
    const actions = entries.map(({ action }: { action: string }) => action);
    for (const action of ['domain.claimed', 'domain.verified', 'member.joined'])
      assert.ok(actions.includes(action), action);
    const passkey = await browser.call('POST', '/auth/passkeys/registration');
    assert.equal(passkey.json.code, 'VALIDATION', 'who leaves the organization would still sign in');
    const transfer = await owner.call('POST', `/user/members/${me.personId}/transfer`);
    assert.equal(transfer.json.code, 'VALIDATION', 'an issuer that is away would shut the owner out');
  });

  it('never shows the client’s secret, and asks for a recent password', async () => {
    const { owner, domain, claimed } = await withDomain();
    const { domains } = await owner.expect(200, 'GET', '/user/domains');
    assert.ok(!JSON.stringify([claimed, domains]).includes(issuer.client.secret));
    assert.equal(domains[0].hasClientSecret, true);
    const path = `/user/domains/${domain}`;
    const changed = await owner.expect(200, 'PATCH', path, { clientSecret: null });
    assert.equal(changed.hasClientSecret, false);
    assert.equal((await owner.call('PATCH', path, {})).status, 400);
    api.domain.clock.pass(6 * 60_000);
    try {
      for (const [method, at, body] of [
        ['POST', '/user/domains', { domain: newDomain(), issuer: issuer.issuer, clientId: 'x' }],
        ['PATCH', path, { role: 'viewer' }],
        ['DELETE', path, undefined],
      ] as const)
        assert.equal((await owner.call(method, at, body)).json.code, 'PASSWORD_REQUIRED');
    } finally {
      api.domain.clock.pass(-6 * 60_000);
    }
  });

  it('counts only once the domain names the account, and then until it names another one alone', async () => {
    const domain = newDomain();
    const [first, second] = [await openBrowser(api.url), await openBrowser(api.url)];
    const verify = (owner: Browser) => owner.call('POST', `/user/domains/${domain}/verification`);
    const ofFirst = await claim(first, domain);
    assert.deepEqual(ofFirst.proof.name, `_platen.${domain}`);
    // Claimed by another account as well: the same answers for both, until the domain says whose it is.
    const ofSecond = await claim(second, domain, evil);
    for (const owner of [first, second]) {
      const unproven = await verify(owner);
      assert.deepEqual([unproven.status, unproven.json.code], [403, 'DOMAIN_UNPROVEN']);
    }
    assert.equal(
      (await signIn(domain, somebody(domain))).page,
      `${api.url}/dashboard/sign-in?issuer=unknown`,
    );
    publish(ofFirst);
    assert.equal(
      (await verify(second)).json.code,
      'DOMAIN_UNPROVEN',
      'the record of another account proves nothing',
    );
    assert.equal((await verify(first)).status, 200);
    publish(ofSecond);
    assert.deepEqual(
      [(await verify(second)).status, (await verify(second)).json.code],
      [409, 'DOMAIN_TAKEN'],
    );
    await first.expect(200, 'PATCH', `/user/domains/${domain}`, { required: true });
    // The domain has another owner now.
    texts.set(ofSecond.proof.name, [ofSecond.proof.value]);
    assert.equal((await verify(second)).status, 200);
    const [lost] = (await first.expect(200, 'GET', '/user/domains')).domains;
    assert.deepEqual([lost.verifiedAt, lost.required], [null, false]);
    const { id } = await second.expect(200, 'GET', '/auth/me');
    const { browser } = await signIn(domain, somebody(domain), evil);
    assert.equal((await browser.account()).id, id);
    assert.equal((await claim(first, newDomain())).verifiedAt, null);
    assert.equal(
      (await first.call('POST', '/user/domains', { ...lostBody(lost) })).json.code,
      'DOMAIN_CLAIMED',
    );
    await claim(first, 'unreachable.example');
    const away = await first.call('POST', '/user/domains/unreachable.example/verification');
    assert.equal(away.json.code, 'UNAVAILABLE');
  });
  const lostBody = ({ domain, issuer: at, clientId }: Record<string, string>) => ({
    domain,
    issuer: at,
    clientId,
  });

  it('believes an issuer for the addresses of its own domain alone', async () => {
    const victim = await withDomain();
    const known = somebody(victim.domain);
    const { browser: own } = await signIn(victim.domain, known);
    const { personId } = await own.account();
    const registered = newEmail();
    const person = await openBrowser(api.url, (await openBrowser(api.url, undefined)).email);
    const { domain } = await withDomain(evil);
    for (const email of [known.email, registered, person.email, `x@sub.${domain}`, undefined]) {
      const lying = { subject: known.subject, ...(email !== undefined && { email }) };
      const { page, browser } = await signIn(domain, lying, evil);
      assert.equal(page, `${api.url}/dashboard/sign-in?issuer=refused`, email);
      assert.equal((await browser.account()).status, 401);
    }
    const unverified = { ...somebody(domain), emailVerified: false };
    assert.match((await signIn(domain, unverified, evil)).page, /issuer=refused$/);
    // The same subject at another issuer is another person.
    const same = await signIn(domain, { subject: known.subject, email: `a@${domain}` }, evil);
    assert.notEqual((await same.browser.account()).personId, personId);
    // An issuer that says nothing of having verified the address speaks for its domain.
    const silent = await signIn(domain, { ...somebody(domain), emailVerified: null }, evil);
    assert.equal((await silent.browser.account()).status, 200);
  });

  it('does not open the account of a person who has registered the same address', async () => {
    const { domain } = await withDomain();
    const subject = somebody(domain);
    const { id } = await (await openBrowserOf(subject.email)).expect(200, 'GET', '/auth/me');
    const { browser } = await signIn(domain, subject);
    assert.notEqual((await browser.account()).personId, id);
  });

  async function openBrowserOf(email: string): Promise<Browser> {
    await callApi(api.url, 'POST', '/auth/register', { email, password: PASSWORD });
    return openBrowser(api.url, email);
  }

  it('takes the response of an issuer only at the address of its domain, and only once', async () => {
    const [one, other] = [await withDomain(), await withDomain(evil)];
    issuer.browserOf(somebody(one.domain));
    const browser = new RedirectedBrowser(api.url);
    const callback = await browser.until(start(one.domain), `${api.url}/auth/oidc/callback/${one.domain}`);
    const pending = new Map(browser.cookies.get(api.url)!);
    const mixed = callback.replace(one.domain, other.domain);
    assert.match(await browser.until(mixed, `${api.url}/dashboard`), /issuer=late$/);
    browser.cookies.set(api.url, new Map(pending));
    assert.equal(await browser.until(callback, `${api.url}/dashboard`), `${api.url}/dashboard/renders`);
    browser.cookies.set(api.url, new Map(pending));
    assert.match(await browser.until(callback, `${api.url}/dashboard`), /issuer=refused$/);
  });

  it('is required of members with an address of the domain, but not of the owner nor of others', async () => {
    const { owner, domain, accountId } = await withDomain();
    const person = await openBrowserOf(`${randomUUID()}@${domain}`);
    const { personId } = await person.expect(200, 'GET', '/auth/me');
    const fences = { ownerFence: undefined, personFence: undefined };
    await api.tenants.memberships.put({ accountId, personId, role: 'developer', ...fences });
    const client = await actingFor(api, personId, accountId);
    await client.expect(200, 'GET', '/user/renders');
    const { client: outside } = await newMember(api, accountId, 'viewer');
    await owner.expect(200, 'PATCH', `/user/domains/${domain}`, { required: true });
    assert.equal((await client.call('GET', '/user/renders')).json.code, 'ISSUER_REQUIRED');
    assert.equal((await client.expect(200, 'GET', '/auth/me')).requiredDomain, domain);
    const signedIn = await callApi(
      api.url,
      'POST',
      '/auth/session',
      { email: person.email, password: PASSWORD },
      SAME_ORIGIN,
    );
    person.cookie = cookieOf(signedIn);
    await person.expect(200, 'GET', '/user/renders');
    person.cookie = cookieOf(await person.call('PATCH', '/auth/session', { accountId }));
    assert.equal((await person.call('GET', '/user/renders')).json.code, 'ISSUER_REQUIRED');
    await outside.expect(200, 'GET', '/user/renders');
    await owner.expect(200, 'GET', '/user/renders');
    const { browser } = await signIn(domain, somebody(domain));
    assert.equal((await browser.call('GET', '/user/renders')).status, 200);
    assert.equal((await browser.account()).requiredDomain, null);
    await owner.expect(200, 'PATCH', `/user/domains/${domain}`, { required: false });
    await client.expect(200, 'GET', '/user/renders');
    const unproven = await claim(owner, newDomain());
    const early = await owner.call('PATCH', `/user/domains/${unproven.domain}`, { required: true });
    assert.equal(early.json.code, 'DOMAIN_UNPROVEN');
  });

  it('ends with the domain, at once, and those do not come back whom the owner has removed', async () => {
    const { owner, domain } = await withDomain();
    const [stays, removed] = [somebody(domain), somebody(domain)];
    const { browser } = await signIn(domain, stays);
    const { personId } = await (await signIn(domain, removed)).browser.account();
    await owner.expect(200, 'DELETE', `/user/members/${personId}`);
    const back = await signIn(domain, removed);
    assert.equal((await back.browser.account()).role, 'none');
    assert.equal((await back.browser.call('GET', '/user/renders')).json.code, 'ROLE_NOT_ALLOWED');
    await owner.expect(200, 'DELETE', `/user/domains/${domain}`);
    assert.equal((await browser.account()).status, 401);
    assert.match((await signIn(domain, stays)).page, /issuer=unknown$/);
    const people = api.domain.connection.collection('accounts');
    assert.equal(await people.countDocuments({ signInDomain: domain }), 0);
    assert.equal((await owner.expect(200, 'GET', '/user/members')).members.length, 1);
    assert.equal((await owner.call('DELETE', `/user/domains/${domain}`)).status, 404);
  });

  it('ends with a suspension, and with the owner of the address who takes the account over', async () => {
    const { owner, domain, accountId } = await withDomain();
    await api.accounts.setSuspended(accountId, true);
    assert.match((await signIn(domain, somebody(domain))).page, /issuer=unknown$/);
    await api.accounts.setSuspended(accountId, false);
    assert.match((await signIn(domain, somebody(domain))).page, /renders$/);
    const account = (await api.accounts.findByEmail(owner.email))!;
    await api.tenants.takeover.takeOver(account, PASSWORD, { actor: 'account' });
    assert.match((await signIn(domain, somebody(domain))).page, /issuer=unknown$/);
    const next = await openBrowser(api.url, owner.email);
    assert.deepEqual((await next.expect(200, 'GET', '/user/domains')).domains, []);
    const anew = await claim(next, domain);
    publish(anew);
    await next.expect(200, 'POST', `/user/domains/${domain}/verification`);
    assert.match((await signIn(domain, somebody(domain))).page, /renders$/);
  });

  it('reaches no issuer that is not https, or inside', async () => {
    const owner = await openBrowser(api.url);
    for (const [at, code] of [
      ['http://login.example.com', 'INVALID_URL'],
      ['https://10.0.0.1', 'URL_BLOCKED'],
      ['https://169.254.169.254/latest', 'URL_BLOCKED'],
      ['https://user:secret@login.example.com', 'INVALID_URL'],
    ] as const) {
      const body = { domain: newDomain(), issuer: at, clientId: 'x' };
      assert.equal((await owner.call('POST', '/user/domains', body)).json.code, code, at);
    }
    // Whose name leads inside is found out when it is connected to.
    const domain = newDomain();
    const body = { domain, issuer: 'https://localhost.localdomain', clientId: 'x' };
    const claimed = await owner.expect(201, 'POST', '/user/domains', body);
    publish(claimed);
    await owner.expect(200, 'POST', `/user/domains/${domain}/verification`);
    const response = await fetch(start(domain), { redirect: 'manual' });
    assert.match(response.headers.get('location') ?? '', /issuer=away$/);
  });

  it('answers the same for all domains that nobody signs in with, and bounds who guesses them', async () => {
    const claimed = newDomain();
    await claim(await openBrowser(api.url), claimed);
    const [unknown, unproven] = await Promise.all(
      [newDomain(), claimed].map(async (domain) => {
        const response = await fetch(start(domain), { redirect: 'manual' });
        return [response.status, response.headers.get('location'), response.headers.get('set-cookie')];
      }),
    );
    assert.deepEqual(unknown, unproven);
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const pages: string[] = [];
    for (let i = 0; i <= api.core.config.PLATEN_SIGN_IN_FAILURES_PER_ADDRESS; i += 1) {
      const response = await fetch(start(newDomain()), { redirect: 'manual', headers });
      pages.push(response.headers.get('location') ?? '');
    }
    assert.match(pages[0]!, /issuer=unknown$/);
    assert.match(pages.at(-1)!, /issuer=often$/);
  });

  it('is bounded in domains of an account', async () => {
    const owner = await openBrowser(api.url);
    for (let i = 0; i < 10; i += 1) await claim(owner, newDomain());
    const body = { domain: newDomain(), issuer: issuer.issuer, clientId: 'x' };
    assert.equal((await owner.call('POST', '/user/domains', body)).json.code, 'DOMAIN_CAPACITY');
    for (const domain of ['example', 'exa mple.com', '-x.com', 'x.com.', '1.2.3.4', `${'x'.repeat(64)}.com`])
      assert.equal((await owner.call('POST', '/user/domains', { ...body, domain })).json.code, 'VALIDATION');
    assert.deepEqual(asked, []);
  });
});
