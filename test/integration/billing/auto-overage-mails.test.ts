import assert from 'node:assert/strict';
import { signUp } from '../../support/account-client.ts';
import { useApi } from '../http/support/api.ts';

const SETTINGS = { enabled: true, units: 1000, priceCents: 1000, capCents: 5000, cycle: '2026-01' };
const OFF = { kind: 'auto-overage-disabled', values: { because: 'link' } };

describe('The mail that reports that auto overage was switched off', () => {
  const api = useApi({
    billing: { STRIPE_SECRET_KEY: 'sk_test_nobody', STRIPE_API_BASE: 'http://127.0.0.1:9' },
  });
  let accountId: string;
  let email: string;

  beforeEach(async () => {
    const owner = await signUp(api.url);
    ({ id: accountId, email } = await owner.expect(200, 'GET', '/auth/me'));
    await enable();
  });

  const enable = () => api.billing.blockLedger.set(accountId, SETTINGS);
  const mails = async () => {
    const kept = await api.domain.connection.collection('mails').find({ accountId }).toArray();
    return kept.map(({ to, state, content }) => ({ to, state, content }));
  };
  /** Follows the link of a mail, and presses the button. @returns the response. */
  async function pressTheButton(): Promise<string | null> {
    const token = await api.disableLinks.sign(accountId, api.domain.clock.now());
    const response = await fetch(`${api.url}/public/auto-overage/disable`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${token}`,
    });
    return new URL(response.headers.get('location')!, api.url).searchParams.get('autoOverageDisabled');
  }
  /** Applies a check of the customer to auto overage. */
  async function check(): Promise<void> {
    const state = { mayBuyByItself: true, currentPeriod: null };
    await api.billing.selling!.autoOverage.follow(accountId, state);
  }

  it('is added once, to the owner, when the link of a mail has switched it off', async () => {
    assert.equal(await pressTheButton(), '1');
    assert.deepEqual(await mails(), [{ to: email, state: 'waiting', content: OFF }]);
    assert.equal(await pressTheButton(), '0', 'it was off already');
    await check();
    assert.equal((await mails()).length, 1);
    assert.equal((await api.billing.blockLedger.find(accountId))!.overage!.untold, undefined);
  });

  it('is added once when the button is pressed many times at once', async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => pressTheButton()));
    assert.deepEqual(responses.toSorted(), [...Array<string>(9).fill('0'), '1']);
    assert.equal((await mails()).length, 1);
  });

  it('is sent each time that auto overage had been on', async () => {
    await pressTheButton();
    await enable();
    api.domain.clock.pass(1000);
    assert.equal(await pressTheButton(), '1');
    assert.equal((await mails()).length, 2);
  });

  it('is added by the next process when the first one ended before', async () => {
    // Such a process has done nothing but the update that switches it off.
    assert.equal(await api.billing.blockLedger.disable(accountId, 'link'), true);
    assert.deepEqual(await mails(), []);
    await check();
    await check();
    assert.deepEqual(await mails(), [{ to: email, state: 'waiting', content: OFF }]);
  });

  it('is not sent when the owner has switched it on again meanwhile', async () => {
    await api.billing.blockLedger.disable(accountId, 'link');
    await enable();
    await check();
    assert.deepEqual(await mails(), []);
  });
});
