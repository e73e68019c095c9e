import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import { checkStripe } from '../../../src/billing/setup.ts';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { BY_BILLING } from '../../../src/tenants/audit/audit-log.ts';
import { type Life, useLifeRig } from './life-rig.ts';

const PLAN = 'platen_plan_starter_monthly';
const BLOCK = 'platen_block_1000';
const WEBHOOK_URL = 'https://platen.test/webhooks/payments';

describe('A price at Stripe that cannot be sold for', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
  });
  afterEach(() => life?.end());

  /** As an operator does in the dashboard: the lookup key goes to another price. */
  async function replace(key: string, over: Partial<Stripe.PriceCreateParams>): Promise<void> {
    const price = [...life.standIn.books.prices.values()].find(({ lookup_key: its }) => its === key)!;
    await life.selling.gateway.stripe.prices.create({
      product: price.product,
      currency: 'usd',
      unit_amount: price.unit_amount,
      metadata: price.metadata,
      ...(key === PLAN && { recurring: { interval: 'month' } }),
      ...over,
      lookup_key: key,
      transfer_lookup_key: true,
    });
  }
  const check = async () =>
    (await checkStripe(life.selling.gateway, rig.plans, WEBHOOK_URL)).lines.filter(
      (line) => !line.includes('webhook'),
    );
  const calls = () => life.standIn.calls.filter(({ method }) => method === 'POST').length;
  async function refused(what: string, why: string, use: () => Promise<unknown>): Promise<void> {
    const before = calls();
    await assert.rejects(use, (error: unknown) => {
      assert.ok(error instanceof PlatenError);
      assert.deepEqual(
        [error.code, error.message],
        ['NOT_SOLD', `${what} is not sold at the moment: its price ${why}.`],
      );
      return true;
    });
    assert.equal(calls(), before, 'nothing was made at Stripe');
  }

  for (const [over, why] of [
    [{ currency: 'eur' }, 'is in eur'],
    [{ recurring: { interval: 'year' } }, 'is charged every year'],
    [{ recurring: { interval: 'month', interval_count: 3 } }, 'is charged every 3 months'],
    [{ recurring: undefined }, 'is charged once'],
    [{ metadata: { platen_plan: 'business' } }, 'lacks the metadata platen_plan: starter'],
  ] as const) {
    it(`is rejected for a plan, and named by the check: it ${why}`, async () => {
      assert.deepEqual(await check(), []);
      await replace(PLAN, over);
      assert.deepEqual(await check(), [`the price ${PLAN} ${why}`]);
      await refused('The plan starter', `${PLAN} ${why}`, () =>
        life.selling.subscriptions.checkout(life.accountId, 'starter'),
      );
    });
  }

  for (const [over, why] of [
    [{ currency: 'jpy' }, 'is in jpy'],
    [{ recurring: { interval: 'month' } }, 'is charged every month'],
    [{ metadata: {} }, 'lacks the metadata platen_block_size: 1000'],
  ] as const) {
    it(`is rejected for a block, and named by the check: it ${why}`, async () => {
      await life.selling.subscriptions.checkout(life.accountId, 'starter');
      const page = [...life.standIn.books.sessions.values()].at(-1)!;
      life.standIn.acts.completeCheckout(page.id);
      await life.selling.sync.checkAt(life.accountId);
      await replace(BLOCK, over);
      assert.deepEqual(await check(), [`the price ${BLOCK} ${why}`]);
      const block = ['A block of 1000 PDFs', `${BLOCK} ${why}`] as const;
      await refused(...block, () => life.selling.blockCheckouts.buy(life.accountId, 1_000));
      const settings = { enabled: true, capCents: 5_000 };
      await refused(...block, () => life.selling.autoOverage.set(life.accountId, settings, BY_BILLING));
    });
  }

  it('is rejected when it is missing', async () => {
    const price = [...life.standIn.books.prices.values()].find(({ lookup_key: its }) => its === PLAN)!;
    await life.selling.gateway.stripe.prices.update(price.id, { active: false });
    assert.deepEqual(await check(), [`the price ${PLAN} is missing`]);
    await refused('The plan starter', `${PLAN} is missing`, () =>
      life.selling.subscriptions.checkout(life.accountId, 'starter'),
    );
  });

  it('is sold for with any amount, and the check names the difference', async () => {
    await replace(PLAN, { unit_amount: 2_100 });
    assert.deepEqual(await check(), [`the price ${PLAN} is $21.00 and not $19.00`]);
    await life.selling.subscriptions.checkout(life.accountId, 'starter');
  });
});
