import assert from 'node:assert/strict';
import type { Mail } from '../../../src/tenants/mail/mail.ts';
import { newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { type Browser, cookieOf, openBrowser, SAME_ORIGIN } from '../../support/browser.ts';
import type { Reply } from '../../support/send.ts';
import { callApi, useApi } from '../http/support/api.ts';

const TOKEN = 'x'.repeat(43);

describe('Invitations of members', () => {
  const api = useApi({ trustedProxies: 1 });
  let lastAddress = 0;

  /** Sends a request like a page, from a new network, so that no test uses up what another one may do. */
  function send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const address = `198.51.${++lastAddress}.1`;
    return callApi(api.url, 'POST', path, body, { ...SAME_ORIGIN, 'x-forwarded-for': address, ...headers });
  }
  const accept = (token: string, password?: string, cookie = '') =>
    send('/auth/invitations/accept', { token, ...(password && { password }) }, cookie ? { cookie } : {});

  /** Somebody who has registered and confirmed an address. */
  async function newPerson(): Promise<Browser & { id: string }> {
    const browser = await openBrowser(api.url);
    const { id } = await browser.expect(200, 'GET', '/auth/me');
    await api.tenants.accountService.confirmAddress((await api.accounts.findNow(id))!, { actor: 'account' });
    return Object.assign(browser, { id });
  }

  async function mailsTo(email: string, kind: string): Promise<Mail[]> {
    const mails = api.domain.connection.collection<Mail>('mails');
    return mails.find({ to: email, 'content.kind': kind }).sort({ createdAt: 1 }).toArray();
  }

  /** Invites an address. @returns the token of its mail. */
  async function invited(owner: Browser, email: string, role = 'developer'): Promise<string> {
    await owner.expect(201, 'POST', '/user/members/invitations', { email, role });
    const { values } = (await mailsTo(email, 'team-invitation')).at(-1)!.content;
    return (values as { token: string }).token;
  }

  /** Invites somebody who is new here. */
  async function joined(owner: Browser, role = 'developer') {
    const email = newEmail();
    const reply = await accept(await invited(owner, email, role), PASSWORD);
    assert.equal(reply.status, 201, JSON.stringify(reply.json));
    const { personId } = reply.json.account;
    return {
      email,
      personId,
      browser: new (owner.constructor as typeof Browser)(api.url, email, cookieOf(reply)),
    };
  }

  const rolesOf = async (owner: Browser) =>
    (await owner.expect(200, 'GET', '/user/members')).members.map(
      ({ email, role }: { email: string; role: string }) => [email, role],
    );

  it('make somebody a member who has no account here, and no other account', async () => {
    const owner = await newPerson();
    const { email, personId, browser } = await joined(owner, 'viewer');
    const me = await browser.expect(200, 'GET', '/auth/me');
    assert.deepEqual(
      [me.id, me.role, me.email, me.emailConfirmed, me.ownerEmail],
      [owner.id, 'viewer', email, true, owner.email],
    );
    const { accounts } = await browser.expect(200, 'GET', '/auth/accounts');
    assert.deepEqual(
      accounts.map(({ id }: { id: string }) => id),
      [owner.id],
    );
    assert.deepEqual(await rolesOf(owner), [
      [owner.email, 'owner'],
      [email, 'viewer'],
    ]);
    // An access token acts for the account as well: there is no other one.
    const { accessToken } = (await send('/auth/login', { email, password: PASSWORD })).json;
    const headers = { authorization: `Bearer ${accessToken}` };
    assert.equal((await callApi(api.url, 'GET', '/auth/me', undefined, headers)).json.id, owner.id);
    const { entries } = await owner.expect(200, 'GET', '/user/audit-log');
    const actions = entries.map((entry: { action: string; person: string }) => [entry.action, entry.person]);
    assert.ok(actions.some(([action, by]: string[]) => action === 'member.joined' && by === email));
    assert.ok(actions.some(([action, by]: string[]) => action === 'member.invited' && by === owner.email));
    assert.equal((await api.accounts.findNow(personId))?.memberOnly, true);
  });

  it('are accepted by whoever is signed in with the address, and keep the own account', async () => {
    const [owner, person] = [await newPerson(), await newPerson()];
    const reply = await accept(await invited(owner, person.email), undefined, person.cookie);
    assert.equal(reply.status, 201);
    person.cookie = cookieOf(reply);
    assert.equal((await person.expect(200, 'GET', '/auth/me')).id, owner.id);
    const { accounts } = await person.expect(200, 'GET', '/auth/accounts');
    assert.deepEqual(
      accounts.map(({ id, role }: { id: string; role: string }) => [id, role]),
      [
        [person.id, 'owner'],
        [owner.id, 'developer'],
      ],
    );
  });

  it('work once, in time, and for nobody who guesses', async () => {
    const owner = await newPerson();
    for (const token of [TOKEN, TOKEN.replace('x', 'y')]) {
      assert.equal((await accept(token, PASSWORD)).json.code, 'INVITATION_INVALID');
      assert.equal((await send('/auth/invitations', { token })).json.code, 'INVITATION_INVALID');
    }
    const token = await invited(owner, newEmail());
    const replies = await Promise.all([accept(token, PASSWORD), accept(token, PASSWORD)]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 403]);
    assert.equal((await accept(token, PASSWORD)).json.code, 'INVITATION_INVALID');

    const revoked = await invited(owner, newEmail());
    const { invitations } = await owner.expect(200, 'GET', '/user/members');
    await owner.expect(200, 'DELETE', `/user/members/invitations/${invitations[0].id}`);
    assert.equal((await accept(revoked, PASSWORD)).json.code, 'INVITATION_INVALID');

    const email = newEmail();
    const [first, second] = [await invited(owner, email), await invited(owner, email, 'viewer')];
    assert.equal((await accept(first, PASSWORD)).json.code, 'INVITATION_INVALID');
    assert.equal((await accept(second, PASSWORD)).json.account.role, 'viewer');

    const late = await invited(owner, newEmail());
    const stored = api.domain.connection.collection<{ expiresAt: Date }>('team_invitations');
    await stored.updateMany({ accountId: owner.id }, { $set: { expiresAt: new Date() } });
    assert.equal((await accept(late, PASSWORD)).json.code, 'INVITATION_INVALID');
    assert.equal((await owner.expect(200, 'GET', '/user/members')).members.length, 3);
  });

  it('are for their address alone: a stranger who has the link needs its password', async () => {
    const [owner, invitee, thief] = [await newPerson(), await newPerson(), await newPerson()];
    const token = await invited(owner, invitee.email);
    const asThief = await accept(token, undefined, thief.cookie);
    assert.deepEqual([asThief.status, asThief.json.code], [403, 'INVITATION_UNPROVEN']);
    assert.equal((await accept(token)).json.code, 'INVITATION_UNPROVEN');
    assert.equal((await accept(token, 'a password that is wrong')).status, 401);
    assert.deepEqual(await rolesOf(owner), [[owner.email, 'owner']]);
    // A guess uses nothing up.
    assert.equal((await accept(token, PASSWORD)).status, 201);
  });

  it('bound the guesses of a password', async () => {
    const [owner, invitee] = [await newPerson(), await newPerson()];
    const token = await invited(owner, invitee.email);
    const guess = () =>
      send(
        '/auth/invitations/accept',
        { token, password: 'wrong guess' },
        { 'x-forwarded-for': '203.0.113.7' },
      );
    const statuses: number[] = [];
    for (let i = 0; i < 12; i += 1) statuses.push((await guess()).status);
    assert.ok(statuses.includes(429), String(statuses));
  });

  it('show an owner nothing about the address: the same response and mail, whether it has an account or not', async () => {
    const [owner, known] = [await newPerson(), await newPerson()];
    const replies = await Promise.all(
      [known.email, newEmail()].map((email) =>
        owner.expect(201, 'POST', '/user/members/invitations', { email, role: 'viewer' }),
      ),
    );
    assert.deepEqual(Object.keys(replies[0]), Object.keys(replies[1]));
    for (const { email } of replies) assert.equal((await mailsTo(email, 'team-invitation')).length, 1);
  });

  it('are made by owners with a confirmed address alone, and not for members', async () => {
    const unconfirmed = await signUp(api.url);
    const body = { email: newEmail(), role: 'viewer' };
    assert.equal(
      (await unconfirmed.call('POST', '/user/members/invitations', body)).json.code,
      'ADDRESS_NOT_CONFIRMED',
    );
    const owner = await newPerson();
    const { browser, email } = await joined(owner);
    for (const address of [email, email.toUpperCase(), owner.email]) {
      const reply = await owner.call('POST', '/user/members/invitations', { email: address, role: 'viewer' });
      assert.deepEqual([reply.status, reply.json.code], [409, 'ALREADY_MEMBER']);
    }
    assert.equal(
      (await browser.call('POST', '/user/members/invitations', body)).json.code,
      'ROLE_NOT_ALLOWED',
    );
    const { invitations } = await browser.expect(200, 'GET', '/user/members');
    assert.deepEqual(invitations, []);
  });

  it('end when the account is taken over', async () => {
    const owner = await newPerson();
    const token = await invited(owner, newEmail());
    await api.tenants.takeover.takeOver((await api.accounts.findNow(owner.id))!, PASSWORD, {
      actor: 'account',
    });
    assert.equal((await accept(token, PASSWORD)).json.code, 'INVITATION_INVALID');
  });

  it('leave roles to the owner: a member raises none, and a new role needs no new sign-in', async () => {
    const owner = await newPerson();
    const { browser, personId } = await joined(owner, 'viewer');
    for (const id of [personId, owner.id]) {
      const raised = await browser.call('PATCH', `/user/members/${id}`, { role: 'developer' });
      assert.equal(raised.json.code, 'ROLE_NOT_ALLOWED');
      assert.equal(
        (await browser.call('POST', `/user/members/${id}/transfer`)).json.code,
        'ROLE_NOT_ALLOWED',
      );
    }
    const self = await owner.call('PATCH', `/user/members/${personId}`, { role: 'owner' });
    assert.equal(self.json.code, 'VALIDATION');
    const key = { name: 'x', mode: 'test' };
    assert.equal((await browser.call('POST', '/user/api-keys', key)).json.code, 'ROLE_NOT_ALLOWED');
    await owner.expect(200, 'PATCH', `/user/members/${personId}`, { role: 'developer' });
    await browser.expect(201, 'POST', '/user/api-keys', key);
  });

  it('are followed by a removal that ends sessions at once, and leaves the keys', async () => {
    const owner = await newPerson();
    const { browser, personId, email } = await joined(owner);
    const { apiKey } = await browser.expect(201, 'POST', '/user/api-keys', { name: 'x', mode: 'test' });
    await owner.expect(200, 'DELETE', `/user/members/${personId}`);
    assert.equal((await browser.call('GET', '/user/api-keys')).status, 401);
    assert.equal(
      (await callApi(api.url, 'GET', '/v1/pdf/jobs', undefined, { 'x-api-key': apiKey })).status,
      200,
    );
    // The person can still sign in, and sees that there is no account.
    const again = await openBrowser(api.url, email);
    assert.equal((await again.expect(200, 'GET', '/auth/me')).role, 'none');
    assert.equal((await again.call('GET', '/user/usage')).json.code, 'ROLE_NOT_ALLOWED');
    // And may be invited again.
    assert.equal((await accept(await invited(owner, email), undefined, again.cookie)).status, 201);
  });

  it('keep an owner in every account: it is transferred, never left', async () => {
    const owner = await newPerson();
    const { browser, personId, email } = await joined(owner);
    const other = await joined(owner, 'viewer');
    assert.equal((await owner.call('DELETE', '/user/membership')).json.code, 'OWNER_REQUIRED');
    assert.equal((await owner.call('DELETE', `/user/members/${owner.id}`)).json.code, 'OWNER_REQUIRED');
    await owner.expect(200, 'POST', `/user/members/${personId}/transfer`);
    assert.deepEqual(await rolesOf(browser), [
      [email, 'owner'],
      [other.email, 'viewer'],
      [owner.email, 'developer'],
    ]);
    assert.equal((await browser.expect(200, 'GET', '/auth/me')).ownerEmail, email);
    for (const to of [email, owner.email])
      assert.equal((await mailsTo(to, 'ownership-transferred')).length, 1);
    // What the former owner could do ends at once, and cannot be taken back.
    assert.equal(
      (await owner.call('POST', `/user/members/${personId}/transfer`)).json.code,
      'ROLE_NOT_ALLOWED',
    );
    assert.equal((await owner.call('DELETE', `/user/members/${personId}`)).json.code, 'ROLE_NOT_ALLOWED');
    await owner.expect(200, 'DELETE', '/user/membership');
    assert.equal((await owner.expect(200, 'GET', '/auth/me')).role, 'none');
    assert.equal((await owner.call('GET', '/user/renders')).json.code, 'ROLE_NOT_ALLOWED');
    assert.equal((await browser.call('DELETE', '/user/membership')).json.code, 'OWNER_REQUIRED');
  });

  it('let one of two transfers at once win, so that there is one owner', async () => {
    const owner = await newPerson();
    const [a, b] = [await joined(owner), await joined(owner)];
    await Promise.all([a, b].map(({ personId }) => owner.call('POST', `/user/members/${personId}/transfer`)));
    const roles = (await rolesOf(a.browser)).map(([, role]: string[]) => role);
    assert.deepEqual(roles.sort(), ['developer', 'developer', 'owner']);
  });
});
