import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { callApi, openApi, type TestApi } from '../http/support/api.ts';

const SECRET = 'whsec_for_tests';
const webhooks = new Stripe('sk_test_x').webhooks;
const PATH = '/webhooks/payments';

describe('POST /webhooks/payments', () => {
  let api: TestApi;
  const event = (over: object = {}) =>
    JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'customer.subscription.updated',
      created: Math.floor(api.domain.clock.now().getTime() / 1000),
      data: { object: { object: 'subscription', id: 'sub_1', customer: 'cus_1' } },
      ...over,
    });
  const signed = (payload: string, secondsAgo = 0, secret = SECRET) =>
    webhooks.generateTestHeaderString({
      payload,
      secret,
      timestamp: Math.floor(api.domain.clock.now().getTime() / 1000) - secondsAgo,
    });
  const send = (payload: string, signature?: string, header = 'payments-signature') =>
    callApi(api.url, 'POST', PATH, payload, signature === undefined ? {} : { [header]: signature });
  const wanted = async () => (await api.billing.store.find('account'))!.wanted;

  before(async () => {
    const billing = {
      STRIPE_SECRET_KEY: 'sk_test_nobody',
      STRIPE_WEBHOOK_SECRET: SECRET,
      STRIPE_API_BASE: 'http://127.0.0.1:9',
    };
    api = await openApi({ billing });
    await api.billing.store.open('account');
    await api.billing.store.setCustomer('account', 1, 'cus_1');
  });
  after(() => api.close());

  it('takes a signed event, under either name of the header', async () => {
    const payload = event();
    for (const [i, header] of ['payments-signature', 'stripe-signature'].entries()) {
      const response = await send(payload, signed(payload), header);
      assert.deepEqual([response.status, response.json], [200, { received: true }]);
      assert.equal(await wanted(), i + 1, 'the mark is stored before the answer');
    }
  });

  it('takes an event byte for byte, whatever its content type', async () => {
    const payload = event().replaceAll(':', ' :  ');
    const before = await wanted();
    const response = await callApi(api.url, 'POST', PATH, payload, {
      'payments-signature': signed(payload),
      'content-type': 'text/plain',
    });
    assert.equal(response.status, 200);
    assert.equal(await wanted(), before + 1);
  });

  it('accepts one of several signatures, as while a secret is replaced', async () => {
    const payload = event();
    const [time, other] = signed(payload, 0, 'whsec_old').split(',');
    const [, good] = signed(payload).split(',');
    assert.equal((await send(payload, [time, other, good].join())).status, 200);
  });

  it('rejects unsigned, forged, changed and old events, and notes nothing', async () => {
    const before = await wanted();
    const payload = event();
    const refused: [string, string | undefined][] = [
      [payload, undefined],
      [payload, ''],
      [payload, 't=1,v1=00'],
      [payload, signed(payload, 0, 'whsec_other')],
      [`${payload} `, signed(payload)],
      [payload, signed(payload, 301)],
      ['not json', signed('not json')],
    ];
    for (const [body, signature] of refused) {
      const { status, json } = await send(body, signature);
      assert.deepEqual([status, json.code], [400, 'PAYMENT_EVENT_REFUSED'], signature);
    }
    assert.equal(await wanted(), before);
  });

  it('responds with 400 to a body over its limit as well: the contract has 200 and 400 for this route, and no 413', async () => {
    const before = await wanted();
    const limit = 1024 * 1024;
    const base = event({ padding: '' });
    const sized = (bytes: number) => event({ padding: 'x'.repeat(bytes - base.length) });
    const over = sized(limit + 1);
    const { status, json } = await send(over, signed(over));
    assert.deepEqual([status, json.code], [400, 'PAYMENT_EVENT_REFUSED']);
    assert.match(String(json.message), /larger than the limit/);
    assert.equal(await wanted(), before);
    // The same event with one byte less is taken: it was rejected for its size.
    const fits = sized(limit);
    assert.equal((await send(fits, signed(fits))).status, 200);
    assert.equal(await wanted(), before + 1);
  });

  it('accepts and ignores unknown events, and customers of others', async () => {
    const before = await wanted();
    for (const over of [
      { type: 'payout.paid' },
      { data: { object: { object: 'subscription', customer: 'cus_of_another' } } },
      { type: 'customer.updated', data: { object: { object: 'customer', id: 'cus_of_another' } } },
    ]) {
      const payload = event(over);
      assert.equal((await send(payload, signed(payload))).status, 200);
    }
    assert.equal(await wanted(), before);
  });

  it('responds with 400 without a secret to check by', async () => {
    const other = await openApi({ billing: { STRIPE_SECRET_KEY: 'sk_test_nobody' } });
    const { status, json } = await callApi(other.url, 'POST', PATH, '{}');
    assert.deepEqual([status, json.code], [400, 'BILLING_NOT_CONFIGURED']);
    await other.close();
  });
});
