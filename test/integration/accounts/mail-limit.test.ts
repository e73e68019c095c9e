import assert from 'node:assert/strict';
import type { Mail } from '../../../src/tenants/mail/mail.ts';
import { newEmail, signUp } from '../../support/account-client.ts';
import { openBrowser, SAME_ORIGIN } from '../../support/browser.ts';
import { callApi, useApi } from '../http/support/api.ts';

const HOUR_MS = 3_600_000;

describe('The bounds of mails that anybody can ask for', () => {
  const api = useApi({ trustedProxies: 1 });

  let lastAddress = 0;
  const newAddress = () => `198.51.${++lastAddress}.1`;
  const forgot = (email: string, address: string) =>
    callApi(api.url, 'POST', '/auth/forgot', { email }, { ...SAME_ORIGIN, 'x-forwarded-for': address });

  async function resetsTo(email: string): Promise<number> {
    await api.tenants.recovery.flush();
    const mails = api.domain.connection.collection<Mail>('mails');
    return mails.countDocuments({ to: email, 'content.kind': 'password-reset' });
  }
  const records = () => api.domain.connection.collection('recovery_mails').countDocuments();

  async function registered(): Promise<string> {
    const email = newEmail();
    await signUp(api.url, email);
    return email;
  }

  it('end a network that asks for too many, which then counts against no address and writes no record', async () => {
    const victim = await registered();
    const attacker = newAddress();
    for (let i = 0; i < 20; i += 1) assert.equal((await forgot(newEmail(), attacker)).status, 202);
    const before = await records();
    for (const email of [victim, victim, victim, victim, newEmail(), newEmail()]) {
      const { status, json, headers } = await forgot(email, attacker);
      assert.deepEqual([status, json.code], [429, 'TOO_MANY_MAILS']);
      const seconds = Number(headers.get('retry-after'));
      assert.ok(seconds >= 1 && seconds <= 3600);
    }
    assert.equal(await records(), before);
    assert.equal(await resetsTo(victim), 0);
    const owner = newAddress();
    for (let i = 0; i < 3; i += 1) assert.equal((await forgot(victim, owner)).status, 202);
    assert.equal(await resetsTo(victim), 3);
  });

  it('let no network use up the mails of an address, whether or not it has an account', async () => {
    const [victim, nobody] = [await registered(), newEmail()];
    for (const email of [victim, nobody]) {
      const attacker = newAddress();
      const statuses = [];
      for (let i = 0; i < 6; i += 1) statuses.push((await forgot(email, attacker)).status);
      assert.deepEqual(statuses, [202, 202, 202, 429, 429, 429]);
      assert.equal((await forgot(email, newAddress())).status, 202, 'its owner is elsewhere');
    }
    assert.equal(await resetsTo(victim), 4);
    assert.equal(await resetsTo(nobody), 0);
  });

  it('count the customer of an IPv6 /48 once, whatever addresses it uses', async () => {
    const victim = await registered();
    const statuses = [];
    for (let i = 0; i < 5; i += 1) statuses.push((await forgot(victim, `2001:db8:77:${i}::1`)).status);
    assert.deepEqual(statuses, [202, 202, 202, 429, 429]);
    assert.equal((await forgot(victim, '2001:db8:78::1')).status, 202);
  });

  it('send an address a bounded number from everywhere, and begin anew after an hour', async () => {
    const [victim, neighbour] = [await registered(), await registered()];
    const statuses = [];
    for (let i = 0; i < 20; i += 1) statuses.push((await forgot(victim, newAddress())).status);
    assert.equal(statuses.filter((status) => status === 202).length, 15);
    assert.deepEqual(statuses.slice(15), [429, 429, 429, 429, 429]);
    assert.equal(await resetsTo(victim), 15);
    assert.equal((await forgot(neighbour, newAddress())).status, 202);
    assert.equal(await resetsTo(neighbour), 1);
    api.domain.clock.pass(HOUR_MS);
    assert.equal((await forgot(victim, newAddress())).status, 202);
    assert.equal(await resetsTo(victim), 16);
  });

  it('keep whoever registered an address from using up the mails for a new password', async () => {
    const attacker = await openBrowser(api.url);
    for (let i = 0; i < 20; i += 1) {
      const { status } = await attacker.call('POST', '/auth/email/verification', undefined, {
        ...SAME_ORIGIN,
        'x-forwarded-for': newAddress(),
      });
      assert.equal(status, i < 15 ? 202 : 429);
    }
    assert.equal((await forgot(attacker.email, newAddress())).status, 202);
    assert.equal(await resetsTo(attacker.email), 1);
  });

  it('hold for requests of the same moment', async () => {
    const victim = await registered();
    const attacker = newAddress();
    const responses = await Promise.all(Array.from({ length: 12 }, () => forgot(victim, attacker)));
    assert.equal(responses.filter(({ status }) => status === 202).length, 3);
    assert.equal(await resetsTo(victim), 3);
  });
});
