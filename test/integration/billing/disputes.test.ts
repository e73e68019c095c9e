import assert from 'node:assert/strict';
import { billingSweeps } from '../../../src/billing/billing-sweeps.ts';
import { type Life, useLifeRig } from './life-rig.ts';

describe('Disputes of payments', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
    await life.selling.subscriptions.checkout(life.accountId, 'starter');
    await complete();
  });
  afterEach(() => life?.end());

  async function complete(): Promise<void> {
    const { standIn, deliverer, selling } = life;
    const page = [...standIn.books.sessions.values()].findLast(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(page.id);
    await deliverer.deliverAll();
    await selling.events.resolveWaiting();
    while ((await selling.sync.sweep()) + (await selling.blockPurchases.sweep()) > 0);
  }
  const lastCharge = () => [...life.standIn.books.charges.keys()].at(-1)!;
  /** What the dispatcher's metrics say after its sweep. */
  async function reported(): Promise<Record<string, number>> {
    const sweeps = billingSweeps(life.billing, { PLATEN_SWEEP_MS: 1_000 }, rig.metrics);
    await sweeps.find(({ name }) => name === 'count-disputes')!.run();
    const { values } = await rig.metrics.billingDisputes.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.about, value]));
  }

  it('are counted while they are open, by what was paid', async () => {
    const subscribed = lastCharge();
    await life.selling.blockCheckouts.buy(life.accountId, 1_000);
    await complete();
    const blockBalance = lastCharge();
    assert.deepEqual(await reported(), { subscription: 0, block: 0 });
    const { acts } = life.standIn;
    const first = acts.dispute(subscribed);
    assert.deepEqual(await reported(), { subscription: 1, block: 0 });
    const second = acts.dispute(blockBalance);
    assert.deepEqual(await reported(), { subscription: 1, block: 1 });
    acts.decideDispute(first.id, 'won');
    assert.deepEqual(await reported(), { subscription: 0, block: 1 });
    acts.decideDispute(second.id, 'lost');
    assert.deepEqual(await reported(), { subscription: 0, block: 0 });
  });

  it('are not counted for customers of others', async () => {
    const { stripe } = life.selling.gateway;
    const stranger = await stripe.customers.create({ email: 'stranger@example.com' });
    const [price] = [...life.standIn.books.prices.values()].filter(({ recurring }) => recurring !== null);
    life.standIn.acts.subscribe(stranger.id, price!.id, { card: 'good' });
    life.standIn.acts.dispute(lastCharge());
    assert.deepEqual(await reported(), { subscription: 0, block: 0 });
  });
});
