import assert from 'node:assert/strict';
import { BY_BILLING } from '../../../src/tenants/audit/audit-log.ts';
import type * as R from '../../support/stripe/records.ts';
import { BlockOracle } from './block-oracle.ts';
import { followEvents, type Life, useLifeRig } from './life-rig.ts';

const PRICE = 1_000;
const UNITS = 1_000;

describe('A block that is not paid, or not wholly paid, by a card', () => {
  const rig = useLifeRig();
  let life: Life;
  let oracle: BlockOracle;

  beforeEach(async () => {
    life = await rig.begin();
    oracle = new BlockOracle(life, rig);
    const { accountId, standIn, selling } = life;
    await selling.subscriptions.checkout(accountId, 'starter');
    standIn.acts.completeCheckout([...standIn.books.sessions.keys()].at(-1)!);
    await selling.sync.checkAt(accountId);
    await selling.autoOverage.set(accountId, { enabled: true, capCents: 2 * PRICE }, BY_BILLING);
  });
  afterEach(() => life?.end());

  async function follow(): Promise<void> {
    await followEvents(life);
    while ((await life.selling.blockPurchases.sweep()) > 0);
  }
  async function buy(): Promise<R.Invoice> {
    await oracle.useUp();
    assert.deepEqual(await oracle.request(3), Array(3).fill('told to retry'));
    await follow();
    await follow();
    return invoice();
  }
  const invoice = () =>
    [...life.standIn.books.invoices.values()].find(({ metadata }) => metadata.blockId !== undefined)!;
  const setBalance = (balance: number) =>
    life.selling.gateway.stripe.customers.update(life.customerId, { balance });
  const balance = () => life.standIn.books.customers.get(life.customerId)!.balance;
  const charged = () =>
    [...life.standIn.books.charges.values()].filter(({ paid }) => paid).map(({ amount }) => amount);
  const states = async () => (await oracle.blocks()).map(({ state }) => state);
  const overage = async () => {
    const { enabled, spentCents, purchase } = (await life.billing.blockLedger.find(life.accountId))!.overage!;
    return { enabled, spentCents, held: purchase !== undefined };
  };
  const units = async () => {
    const { blockBalance } = (await life.billing.blockLedger.find(life.accountId))!;
    return Object.values(blockBalance?.blocks ?? {}).map(({ left }) => left);
  };
  const mails = async () => {
    const sent = await rig.connection.collection('mails').find({ accountId: life.accountId }).toArray();
    return sent.map(({ content }) => [content.kind, content.values.because]).sort();
  };
  const unproven = async () => {
    const { values } = await rig.metrics.billingErrors.get();
    return values.find(({ labels }) => labels.kind === 'unproven')!.value;
  };

  for (const [what, cents, due, left] of [
    ['all of it', 5_000, 0, 4_000],
    ['just enough', PRICE, 0, 0],
    ['a part', 400, 600, 0],
  ] as const) {
    it(`is granted when the customer's credit balance pays ${what}`, async () => {
      const plan = charged();
      await setBalance(-cents);
      const { status, amount_due, amount_paid } = await buy();
      assert.deepEqual([status, amount_due, amount_paid], ['paid', due, due]);
      assert.deepEqual(charged(), due === 0 ? plan : [...plan, due]);
      assert.equal(balance(), left === 0 ? 0 : -left);
      assert.deepEqual([await states(), await units()], [['granted'], [UNITS]]);
      assert.deepEqual(await overage(), { enabled: true, spentCents: PRICE, held: false });
      assert.deepEqual(await mails(), [['overage-purchased', undefined]]);
    });
  }

  for (const off of [300, PRICE]) {
    it(`is granted when a coupon of the customer takes ${off} cents off`, async () => {
      life.standIn.books.discounts.set(life.customerId, off);
      assert.deepEqual([(await buy()).amount_due, await states()], [PRICE - off, ['granted']]);
      assert.deepEqual(await units(), [UNITS]);
    });
  }

  it("is charged with the customer's earlier debt, and granted", async () => {
    await setBalance(250);
    assert.equal((await buy()).amount_due, PRICE + 250);
    assert.deepEqual([await states(), balance()], [['granted'], 0]);
  });

  it('is taken back with the payment of the part that was charged', async () => {
    await setBalance(-400);
    await buy();
    await life.selling.gateway.stripe.refunds.create({
      charge: [...life.standIn.books.charges.keys()].at(-1)!,
    });
    await follow();
    assert.deepEqual(await states(), ['reversed']);
  });

  it('is not taken back because of a declined card, when no payment was needed', async () => {
    await setBalance(-PRICE);
    await buy();
    life.standIn.acts.changeCard(life.customerId, 'declined');
    life.clock.pass(32 * 24 * 3_600_000);
    await follow();
    const { charges, refunds } = life.standIn.books;
    const declined = [...charges.values()].filter(({ paid }) => !paid);
    assert.ok(declined.length > 0 && refunds.size === 0);
    assert.deepEqual(await states(), ['granted']);
  });

  it('leaves the credit balance unchanged when the rest of the price cannot be charged', async () => {
    await setBalance(-400);
    life.standIn.acts.changeCard(life.customerId, 'declined');
    assert.equal((await buy()).status, 'void');
    assert.deepEqual([balance(), await states(), await units()], [-400, ['failed'], []]);
    assert.deepEqual(await mails(), [['overage-failed', undefined]]);
  });

  it('is neither granted nor reported as free when the invoice was marked as paid elsewhere', async () => {
    life.standIn.acts.changeCard(life.customerId, 'authenticates');
    const before = await unproven();
    const { id } = await buy();
    life.standIn.acts.payOutOfBand(id);
    await follow();
    await follow();
    assert.equal(invoice().status, 'paid');
    assert.deepEqual([await states(), await units()], [['failed'], []]);
    assert.deepEqual(await overage(), { enabled: false, spentCents: 0, held: false });
    assert.deepEqual(await mails(), [
      ['auto-overage-disabled', 'unproven'],
      ['overage-action-required', undefined],
    ]);
    assert.equal(await unproven(), before + 1);
  });
});
