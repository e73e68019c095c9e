import assert from 'node:assert/strict';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { followEvents, type Life, useLifeRig } from './life-rig.ts';

const HOUR_MS = 3_600_000;
const PAGES = '/v1/checkout/sessions';

describe('The page of a block that is bought by hand', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
  });
  afterEach(() => life?.end());

  async function follow(): Promise<void> {
    await followEvents(life);
    while ((await life.selling.blockPurchases.sweep()) > 0);
  }
  const buy = (units: 1000 | 5000 = 1000) => life.selling.blockCheckouts.buy(life.accountId, units);
  const sessions = () => [...life.standIn.books.sessions.values()];
  const open = () => sessions().filter(({ status }) => status === 'open');
  const pay = () => life.standIn.acts.completeCheckout(open()[0]!.id);
  const blockBalance = async () => {
    const period = quotaPeriod(life.clock.now());
    return life.billing.blockLedger.left(life.accountId, period, 0);
  };
  const mails = async () => {
    const sent = await rig.connection.collection('mails').find({ accountId: life.accountId }).toArray();
    return sent.map(({ content }) => content);
  };
  const states = async () => {
    const blocks = await rig.connection
      .collection('billing_blocks')
      .find({}, { sort: { units: 1, state: 1 } })
      .toArray();
    return blocks.map(({ units, state }) => [units, state]);
  };

  it('is the same page while it is open, and another one when it is paid', async () => {
    const url = await buy();
    assert.equal(await buy(), url);
    life.clock.pass(HOUR_MS);
    assert.equal(await buy(), url);
    assert.equal(sessions().length, 1);
    pay();
    await follow();
    await follow();
    assert.equal(await blockBalance(), 1000);
    const mail = { kind: 'overage-bought', values: { units: 1000, amountCents: 1000 } };
    assert.deepEqual(await mails(), [mail]);
    assert.notEqual(await buy(), url);
    pay();
    await follow();
    await follow();
    assert.equal(await blockBalance(), 2000);
    assert.deepEqual(await mails(), [mail, mail]);
  });

  it('is proven by its own payment, though the invoice names none', async () => {
    await buy();
    pay();
    const { invoicePayments } = life.standIn.books;
    invoicePayments.clear();
    await follow();
    await follow();
    assert.deepEqual([await blockBalance(), await states()], [1000, [[1000, 'granted']]]);
    const charge = [...life.standIn.books.charges.keys()].at(-1)!;
    await life.selling.gateway.stripe.refunds.create({ charge });
    await follow();
    assert.deepEqual([await blockBalance(), await states()], [0, [[1000, 'reversed']]]);
  });

  it('is reported, and grants no PDFs, when it is called paid without proof', async () => {
    const errors = async () => {
      const { values } = await rig.metrics.billingErrors.get();
      return values.find(({ labels }) => labels.kind === 'unproven')!.value;
    };
    const before = await errors();
    await buy();
    pay();
    for (const intent of life.standIn.books.intents.values()) intent.amount_received = 999;
    await follow();
    await follow();
    assert.deepEqual([await blockBalance(), await states()], [0, [[1000, 'reserved']]]);
    assert.ok((await errors()) > before);
  });

  it('is one page for concurrent clicks', async () => {
    const urls = await Promise.all(Array.from({ length: 10 }, () => buy()));
    assert.equal(new Set(urls).size, 1);
    assert.equal(sessions().length, 1);
    assert.deepEqual(await states(), [[1000, 'reserved']]);
    pay();
    assert.throws(() => life.standIn.acts.completeCheckout(sessions()[0]!.id), /complete/);
    await follow();
    await follow();
    assert.deepEqual([await blockBalance(), await states()], [1000, [[1000, 'granted']]]);
  });

  it('is closed for one of another size, also when both are requested at once', async () => {
    const url = await buy(1000);
    assert.notEqual(await buy(5000), url);
    assert.deepEqual(
      sessions().map(({ status, amount_total: amount }) => [amount, status]),
      [
        [1000, 'expired'],
        [4500, 'open'],
      ],
    );
    await Promise.all([buy(1000), buy(5000), buy(1000), buy(5000)]);
    assert.equal(open().length, 1);
    await follow();
    assert.equal((await states()).filter(([, state]) => state === 'reserved').length, 1);
  });

  for (const error of ['lost', 'unsent'] as const) {
    it(`is made once when the response is ${error}, however often that happens`, async () => {
      let left = 5;
      life.standIn.problemOf = ({ method, route }) => {
        if (method !== 'POST' || route !== PAGES || left === 0) return undefined;
        left -= 1;
        return error;
      };
      await assert.rejects(buy(), { code: 'UNAVAILABLE' });
      const url = await buy();
      assert.equal(left, 0);
      assert.equal(await buy(), url);
      assert.deepEqual(
        sessions().map((session) => session.url),
        [url],
      );
      assert.deepEqual(await states(), [[1000, 'reserved']]);
    });
  }

  it('keeps the size and the price it was noted with, when its response was lost and another is requested', async () => {
    let left = 3;
    life.standIn.problemOf = ({ method, route }) =>
      method === 'POST' && route === PAGES && left-- > 0 ? 'unsent' : undefined;
    await assert.rejects(buy(5000));
    await rig.connection.collection('billing_blocks').deleteMany({});
    await buy(1000);
    await follow();
    assert.deepEqual(await states(), [
      [1000, 'reserved'],
      [5000, 'failed'],
    ]);
  });

  it('is a new one after a failure that Stripe keeps as the response for the key', async () => {
    let failed = false;
    life.standIn.problemOf = ({ method, route }) => {
      if (failed || method !== 'POST' || route !== PAGES) return undefined;
      failed = true;
      return 'failed';
    };
    await assert.rejects(buy(), { code: 'UNAVAILABLE' });
    await buy();
    assert.equal(open().length, 1);
  });

  it('is a new one when it has expired, or its customer was deleted', async () => {
    const first = await buy();
    life.clock.pass(25 * HOUR_MS);
    const second = await buy();
    assert.notEqual(second, first);
    assert.equal(open().length, 1);
    await life.selling.gateway.stripe.customers.del(life.customerId);
    await follow();
    const third = await buy();
    assert.notEqual(third, second);
    const { customer } = sessions().find(({ url }) => url === third)!;
    assert.notEqual(customer, life.customerId);
  });
});
