import assert from 'node:assert/strict';
import type * as R from '../../support/stripe/records.ts';
import type { Problem } from '../../support/stripe/stand-in.ts';
import { type Life, useLifeRig } from './life-rig.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

describe('Repairs at the provider that are rejected or fail', () => {
  const rig = useLifeRig();
  let life: Life;
  let second: R.Subscription;

  beforeEach(async () => {
    life = await rig.begin();
    const { accountId, standIn, selling, clock } = life;
    await selling.subscriptions.checkout(accountId, 'starter');
    standIn.acts.completeCheckout([...standIn.books.sessions.keys()].at(-1)!);
    await selling.sync.checkAt(accountId);
    clock.pass(MINUTE_MS);
  });
  afterEach(() => life?.end());

  /** The same call fails this many times. */
  function goesWrong(route: string, error: Problem, times: number): void {
    let left = times;
    life.standIn.problemOf = (asked) =>
      asked.method === 'POST' && asked.route === route && left-- > 0 ? error : undefined;
  }
  function subscribeAgain(): void {
    const { standIn, customerId } = life;
    const prices = [...standIn.books.prices.values()];
    const { id } = prices.find(({ metadata }) => metadata.platen_plan === 'business')!;
    second = standIn.acts.subscribe(customerId, id, { card: 'good' });
  }
  const check = () => life.selling.sync.checkAt(life.accountId);
  /** By time alone: no event is delivered. */
  async function pass(ms: number): Promise<void> {
    life.clock.pass(ms);
    life.standIn.catchUp();
    await life.selling.sync.sweep();
  }
  const refunds = () =>
    [...life.standIn.books.refunds.values()].map(({ amount, status }) => [amount, status]);
  const mails = async () => {
    const { accountId } = life;
    const sent = await rig.connection.collection('mails').find({ accountId }).toArray();
    return sent.map(({ content }) => content.kind);
  };
  const errors = async () => {
    const { values } = await rig.metrics.billingErrors.get();
    return values.find(({ labels }) => labels.kind === 'refund')!.value;
  };

  it('charge nothing more for a second subscription whose refund is rejected, and are tried again', async () => {
    subscribeAgain();
    const before = await errors();
    goesWrong('/v1/refunds', 'refused', 1);
    await check();
    assert.deepEqual([second.status, second.cancel_at_period_end], ['active', true]);
    assert.deepEqual([refunds(), await mails(), await errors()], [[], [], before + 1]);
    await pass(30 * MINUTE_MS);
    assert.deepEqual(refunds(), [], 'not due yet');
    await pass(31 * MINUTE_MS);
    assert.deepEqual([second.status, refunds()], ['canceled', [[34_900, 'succeeded']]]);
    assert.deepEqual([await mails(), await errors()], [['duplicate-subscription'], before + 1]);
    await pass(HOUR_MS);
    assert.equal(refunds().length, 1);
  });

  it('are reported each time while a refund is always rejected, and never announce it', async () => {
    subscribeAgain();
    const before = await errors();
    goesWrong('/v1/refunds', 'refused', Number.POSITIVE_INFINITY);
    await check();
    for (let hours = 0; hours < 5; hours += 1) await pass(HOUR_MS + MINUTE_MS);
    assert.equal(await errors(), before + 6);
    assert.equal(second.status, 'active');
    const charges = () => [...life.standIn.books.charges.values()].filter(({ amount }) => amount === 34_900);
    assert.equal(charges().length, 1);
    await pass(32 * DAY_MS);
    assert.equal(second.status, 'canceled');
    assert.equal(charges().length, 1, 'it was not renewed');
    assert.deepEqual([refunds(), await mails()], [[], []]);
  });

  it('end a second subscription that an operator has refunded meanwhile, and do not refund it again', async () => {
    subscribeAgain();
    goesWrong('/v1/refunds', 'refused', 1);
    await check();
    const charge = [...life.standIn.books.charges.keys()].at(-1)!;
    await life.selling.gateway.stripe.refunds.create({ charge });
    await pass(HOUR_MS + MINUTE_MS);
    assert.deepEqual([second.status, refunds().length], ['canceled', 1]);
    assert.deepEqual(await mails(), ['duplicate-subscription']);
  });

  for (const error of ['failed', 'lost'] as const) {
    it(`refund once, and soon, when the response is ${error}`, async () => {
      subscribeAgain();
      // The library repeats it twice with the same key.
      goesWrong('/v1/refunds', error, 3);
      assert.equal(await check(), undefined);
      assert.deepEqual(await mails(), []);
      await pass(MINUTE_MS);
      assert.deepEqual([second.status, refunds()], ['canceled', [[34_900, 'succeeded']]]);
      assert.deepEqual(await mails(), ['duplicate-subscription']);
    });
  }

  it('void an invoice soon, though Stripe has failed at that and keeps failing for the same key', async () => {
    const { standIn, customerId, selling } = life;
    standIn.acts.changeCard(customerId, 'declined');
    await pass(32 * DAY_MS);
    const [subscription] = standIn.books.subscriptions.keys();
    await selling.gateway.stripe.subscriptions.cancel(subscription!);
    const open = [...standIn.books.invoices.values()].filter(({ status }) => status === 'open');
    assert.equal(open.length, 1);
    goesWrong('/v1/invoices/:id/void', 'failed', 1);
    assert.equal(await check(), undefined);
    assert.equal(open[0]!.status, 'open');
    await pass(MINUTE_MS);
    assert.equal(open[0]!.status, 'void');
  });

  it('do not delay another upgrade when the previous invoice cannot be voided', async () => {
    const { standIn, customerId, selling, accountId } = life;
    standIn.acts.changeCard(customerId, 'authenticates');
    assert.notEqual(await selling.subscriptions.checkout(accountId, 'professional'), '');
    goesWrong('/v1/invoices/:id/void', 'failed', 1);
    await assert.rejects(selling.subscriptions.checkout(accountId, 'business'), { code: 'UNAVAILABLE' });
    assert.notEqual(await selling.subscriptions.checkout(accountId, 'business'), '');
  });
});
