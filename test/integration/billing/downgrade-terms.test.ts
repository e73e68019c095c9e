import assert from 'node:assert/strict';
import { itemOf } from '../../support/stripe/subscription-life.ts';
import { OF_ITEM, QUANTITY, TERMS } from './agreed-terms.ts';
import { followEvents, type Life, useLifeRig } from './life-rig.ts';

const DAY_MS = 86_400_000;
const OFF = 500;

describe("An operator's agreement with a customer", () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
  });
  afterEach(() => life?.end());

  const follow = () => followEvents(life);
  const checkout = (plan: 'starter' | 'professional' | 'business') =>
    life.selling.subscriptions.checkout(life.accountId, plan);
  const subscription = () => [...life.standIn.books.subscriptions.values()][0]!;
  const planOf = () => itemOf(subscription()).price.metadata.platen_plan;
  const invoices = () => [...life.standIn.books.invoices.values()];

  async function subscribe(): Promise<void> {
    const { standIn, selling } = life;
    await selling.subscriptions.checkout(life.accountId, 'business');
    standIn.acts.completeCheckout([...standIn.books.sessions.keys()].at(-1)!);
    standIn.books.discounts.set('di_agreed', OFF);
    Object.assign(itemOf(subscription()), structuredClone(OF_ITEM));
    standIn.acts.alter(subscription().id, structuredClone(TERMS));
    await follow();
  }

  /** Everything of the subscription that a change of its plan must not touch. */
  function terms() {
    const {
      metadata,
      items: _,
      latest_invoice: __,
      schedule: ___,
      ...kept
    } = structuredClone(subscription());
    const { price: ____, current_period_start: _s, current_period_end: _e, ...item } = itemOf(subscription());
    const { platen_plan: _p, ...own } = metadata;
    return structuredClone({ kept, own, item });
  }

  it('stays the same after a downgrade is planned, when it is in force, and when the next is', async () => {
    await subscribe();
    const before = terms();
    for (const plan of ['professional', 'starter'] as const) {
      await checkout(plan);
      await follow();
      assert.deepEqual(terms(), before, `${plan} is planned`);
      life.clock.pass(32 * DAY_MS);
      await follow();
      assert.equal(planOf(), plan);
      assert.deepEqual(terms(), before, `${plan} is in force`);
      const { price } = itemOf(subscription());
      const renewal = invoices().findLast(({ billing_reason: why }) => why === 'subscription_cycle')!;
      assert.equal(renewal.total, price.unit_amount * QUANTITY - OFF);
    }
  });

  it('stays the same after a planned downgrade is replaced or dropped', async () => {
    await subscribe();
    const before = terms();
    for (const plan of ['starter', 'professional', 'business'] as const) {
      await checkout(plan);
      assert.deepEqual(terms(), before, plan);
    }
    assert.equal(subscription().schedule, null);
  });

  it('stays the same after an upgrade, a cancellation and its end', async () => {
    await subscribe();
    await checkout('starter');
    life.clock.pass(32 * DAY_MS);
    await follow();
    const before = terms();
    await checkout('professional');
    assert.deepEqual(terms(), before);
    assert.equal(planOf(), 'professional');
    await life.selling.subscriptions.cancel(life.accountId);
    await life.selling.subscriptions.resume(life.accountId);
    assert.deepEqual(terms(), before);
  });

  it('stays the same in a trial, which goes on to its end', async () => {
    const { standIn, customerId } = life;
    const price = [...standIn.books.prices.values()].find(
      ({ metadata }) => metadata.platen_plan === 'business',
    );
    standIn.acts.subscribe(customerId, price!.id, { card: 'good', trialDays: 14 });
    await follow();
    const before = terms();
    await checkout('starter');
    assert.deepEqual(terms(), before);
    assert.equal(subscription().status, 'trialing');
    life.clock.pass(15 * DAY_MS);
    await follow();
    assert.deepEqual([subscription().status, planOf()], ['active', 'starter']);
  });
});
