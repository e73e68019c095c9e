import assert from 'node:assert/strict';
import { BY_BILLING } from '../../../src/tenants/audit/audit-log.ts';
import { BlockOracle } from './block-oracle.ts';
import { type Life, useLifeRig } from './life-rig.ts';

const PRICE = 1_000;
const UNITS = 1_000;
/** Longer than a block is left alone that could not be gone on with. */
const LATER_MS = 10_000;

describe('A purchase whose customer is deleted before it is made', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
  });
  afterEach(() => life?.end());

  for (const [when, lost] of [
    ['before its invoice is made', false],
    ['when the answer that its invoice is made was lost', true],
  ] as const) {
    it(`is given up, though the account has another customer by then: ${when}`, () => purchase(lost));
  }

  async function purchase(lost: boolean): Promise<void> {
    const { accountId, customerId, standIn, selling, deliverer, billing, clock } = life;
    const oracle = new BlockOracle(life, rig);
    await selling.subscriptions.checkout(accountId, 'starter');
    standIn.acts.completeCheckout([...standIn.books.sessions.keys()].at(-1)!);
    await selling.sync.checkAt(accountId);
    await selling.autoOverage.set(accountId, { enabled: true, capCents: PRICE }, BY_BILLING);
    await oracle.useUp();
    assert.deepEqual(await oracle.request(1), ['told to retry']);

    if (!lost) await selling.gateway.stripe.customers.del(customerId);
    standIn.problemOf = ({ method, route }) =>
      lost && method === 'POST' && route === '/v1/invoices' ? 'lost' : undefined;
    await selling.blockPurchases.sweep();
    standIn.problemOf = () => undefined;
    assert.equal((await oracle.blocks())[0]?.state, 'reserved', 'no invoice is known');
    if (lost) await selling.gateway.stripe.customers.del(customerId);
    await deliverer.deliverAll();
    await selling.sync.sweep();
    await selling.blockCheckouts.buy(accountId, UNITS);
    assert.notEqual((await billing.store.find(accountId))?.customerId, customerId);
    clock.pass(LATER_MS);
    await selling.blockPurchases.sweep();

    const states = (await oracle.blocks()).map(({ kind, state }) => `${kind} ${state}`);
    assert.deepEqual(states.sort(), ['auto failed', 'by-hand reserved']);
    const { purchase, spentCents } = (await billing.blockLedger.find(accountId))!.overage!;
    assert.deepEqual([purchase, spentCents], [undefined, 0]);
    await oracle.check();
  }
});
