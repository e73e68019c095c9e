import assert from 'node:assert/strict';
import { deletionHindrance } from '../../../src/billing/deletion-hindrance.ts';
import { type Life, useLifeRig } from './life-rig.ts';

const DAY_MS = 86_400_000;

describe('The deletion of an account that is a customer', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
  });
  afterEach(() => life?.end());

  const hindrance = () => deletionHindrance(life.billing, life.accountId, life.clock);

  it('waits for an open page, and is refused until the subscription has ended', async () => {
    const { accountId, standIn, selling } = life;
    assert.equal(await hindrance(), undefined);
    await selling.subscriptions.checkout(accountId, 'starter');
    assert.match((await hindrance()) ?? '', /page for a payment is open until 2/);
    standIn.acts.completeCheckout([...standIn.books.sessions.keys()].at(-1)!);
    await selling.sync.checkAt(accountId);
    assert.match((await hindrance()) ?? '', /subscription is active/);
    const { subscriptionId } = (await life.billing.store.find(accountId))!.state!;
    await selling.gateway.stripe.subscriptions.update(subscriptionId!, { cancel_at_period_end: true });
    await selling.sync.checkAt(accountId);
    assert.match((await hindrance()) ?? '', /subscription is active/);
    await selling.gateway.stripe.subscriptions.cancel(subscriptionId!);
    await selling.sync.checkAt(accountId);
    assert.equal((await life.billing.store.find(accountId))!.state!.status, 'canceled');
    life.clock.pass(DAY_MS);
    assert.equal(await hindrance(), undefined);
  });

  it('is refused while a purchase is not settled, and while an invoice is open', async () => {
    const { accountId, billing, clock } = life;
    await billing.store.open(accountId);
    await billing.blocks.add({ _id: 'b', accountId, kind: 'auto', units: 1, priceCents: 1 });
    assert.match((await hindrance()) ?? '', /purchase or a dispute/);
    const block = (await billing.blocks.claim((await billing.blocks.find('b'))!))!;
    await billing.blocks.change(block, { state: 'frozen' });
    assert.match((await hindrance()) ?? '', /purchase or a dispute/);
    await billing.blocks.change(block, { state: 'granted' });
    assert.equal(await hindrance(), undefined);
    const invoice = {
      ...{ id: 'in_open', number: 'A-1', status: 'open', currency: 'usd', blockId: null },
      ...{ amountDueCents: 1, amountPaidCents: 0, createdAt: clock.now(), hostedInvoiceUrl: null },
      ...{ pdfUrl: null, subscriptionId: null, subscriptionPeriod: null },
    };
    await billing.mirror.add(accountId, [invoice]);
    assert.match((await hindrance()) ?? '', /open invoice/);
    await billing.mirror.add(accountId, [{ ...invoice, status: 'void' }]);
    assert.equal(await hindrance(), undefined);
  });
});
