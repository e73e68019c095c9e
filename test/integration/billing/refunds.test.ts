import assert from 'node:assert/strict';
import { standingBy } from '../../../src/billing/blocks/reversals.ts';
import { LEASE_MS } from '../../../src/infra/store/due-queue.ts';
import { DEFAULT_PLANS } from '../../../src/tenants/plans/plan.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { latch } from '../http/support/test-worker.ts';
import { followEvents, type Life, useLifeRig } from './life-rig.ts';

const QUOTA = DEFAULT_PLANS.free.monthlyRenders;

describe('Refunds of blocks, and refunds that fail', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
  });
  afterEach(() => life?.end());

  /** Delivers what has happened, and follows it, as a dispatcher does. */
  async function follow(): Promise<void> {
    await followEvents(life);
    while ((await life.selling.blockPurchases.sweep()) > 0);
  }

  async function buy(): Promise<{ blockId: string; chargeId: string }> {
    const { standIn, selling, accountId } = life;
    await selling.blockCheckouts.buy(accountId, 1000);
    const page = [...standIn.books.sessions.values()].findLast(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(page.id);
    await follow();
    await follow();
    const chargeId = [...standIn.books.charges.keys()].at(-1)!;
    return { blockId: page.metadata.blockId!, chargeId };
  }

  const period = () => quotaPeriod(life.clock.now());
  const left = () => life.billing.blockLedger.left(life.accountId, period(), QUOTA);
  const state = async (blockId: string) => (await life.billing.blocks.find(blockId))!.state;
  const asEvent = (event: object) => event as Parameters<Life['selling']['events']['note']>[0];
  const refund = (charge: string) => life.selling.gateway.stripe.refunds.create({ charge });
  /** As renders do, which take from the quota first and then from what was bought. */
  async function use(pdfs: number): Promise<void> {
    await rig.connection
      .collection<{ _id: string }>('ledgers')
      .updateOne({ _id: life.accountId }, { $inc: { [`quota.${period()}`]: pdfs } });
  }

  for (const reported of ['refund.failed', 'refund.updated', 'charge.refund.updated']) {
    for (const lowers of [true, false]) {
      it(`give back what they took: ${reported}, the charge's sum ${lowers ? 'lowered' : 'as it was'}`, async () => {
        const { blockId, chargeId } = await buy();
        await use(QUOTA + 300);
        assert.equal(await left(), 700);
        const { id } = await refund(chargeId);
        await follow();
        assert.deepEqual([await left(), await state(blockId)], [0, 'reversed']);
        life.standIn.acts.failRefund(id, { lowers, events: [reported] });
        // Our own endpoint does not subscribe to the older name; one that was made by hand may.
        const failed = [...life.standIn.books.events.values()].at(-1)!;
        if (reported === 'charge.refund.updated') await life.selling.events.note(asEvent(failed));
        await follow();
        assert.deepEqual([await left(), await state(blockId)], [700, 'granted']);
        // A second one, which is paid this time.
        life.standIn.books.charges.get(chargeId)!.amount_refunded = 0;
        await refund(chargeId);
        await follow();
        assert.deepEqual([await left(), await state(blockId)], [0, 'reversed']);
      });
    }
  }

  it('take back their part, rounded down, and are in the audit log', async () => {
    const { blockId, chargeId } = await buy();
    const { stripe } = life.selling.gateway;
    const first = await stripe.refunds.create({ charge: chargeId, amount: 300 });
    await follow();
    assert.deepEqual([await left(), await state(blockId)], [QUOTA + 700, 'granted']);
    await follow();
    assert.equal(await left(), QUOTA + 700, 'once');
    await use(QUOTA + 600);
    const second = await stripe.refunds.create({ charge: chargeId, amount: 299 });
    await follow();
    assert.deepEqual([await left(), await state(blockId)], [0, 'granted'], 'what was left of it');
    await stripe.refunds.create({ charge: chargeId, amount: 401 });
    await follow();
    assert.deepEqual([await left(), await state(blockId)], [0, 'reversed']);
    for (const { id } of [second, first]) life.standIn.acts.failRefund(id);
    await follow();
    assert.deepEqual([await left(), await state(blockId)], [0, 'granted'], '401 of 400 unused ones');
    await life.selling.changes.sweep();
    const query = { limit: 100, offset: 0, newestFirst: false, action: 'billing.block_taken_back' } as const;
    const { entries } = await rig.audit.list(life.accountId, query);
    const said = (units: number, refundedCents: number) => ({
      ...{ units: String(units), cause: 'refund' },
      ...{ refundedCents: String(refundedCents), paidCents: '1000' },
    });
    // At the same moment by the test's clock, which leaves their order open.
    assert.deepEqual(
      entries.map(({ details }) => details).sort((a, b) => Number(b?.units) - Number(a?.units)),
      [said(300, 300), said(100, 599)],
    );
  });

  it('are rounded down to whole PDFs, and leave the rest of a disputed block frozen', async () => {
    const fate = { paidCents: 999, refundedCents: 1, dispute: 'none' } as const;
    assert.deepEqual(standingBy(fate, 1000), { frozen: false, back: 1 });
    assert.deepEqual(standingBy({ ...fate, refundedCents: 998 }, 1000), { frozen: false, back: 998 });
    assert.deepEqual(standingBy({ ...fate, refundedCents: 999 }, 1000), { frozen: false, back: 1000 });
    const { blockId, chargeId } = await buy();
    await life.selling.gateway.stripe.refunds.create({ charge: chargeId, amount: 250 });
    const dispute = life.standIn.acts.dispute(chargeId);
    await follow();
    assert.deepEqual([await left(), await state(blockId)], [QUOTA, 'frozen']);
    life.standIn.acts.decideDispute(dispute.id, 'won');
    await follow();
    assert.deepEqual([await left(), await state(blockId)], [QUOTA + 750, 'granted']);
  });

  it('are found without any event', async () => {
    const { blockId, chargeId } = await buy();
    const { id } = await refund(chargeId);
    await follow();
    assert.equal(await state(blockId), 'reversed');
    life.standIn.acts.failRefund(id, { events: [] });
    await follow();
    assert.equal(await left(), QUOTA, 'no event has come');
    await life.selling.reconcile.customers();
    await follow();
    assert.equal(await left(), QUOTA + 1000);
  });

  it('leave a block frozen that is also disputed, until the dispute is decided', async () => {
    const { blockId, chargeId } = await buy();
    const { id } = await refund(chargeId);
    await follow();
    const dispute = life.standIn.acts.dispute(chargeId);
    life.standIn.acts.failRefund(id);
    await follow();
    assert.deepEqual([await left(), await state(blockId)], [QUOTA, 'frozen']);
    life.standIn.acts.decideDispute(dispute.id, 'won');
    await follow();
    assert.deepEqual([await left(), await state(blockId)], [QUOTA + 1000, 'granted']);
  });

  it('are followed by a fresh check, when an older one was overtaken and has written last', async () => {
    const disputed = await buy();
    const { blockId, chargeId } = await buy();
    const { standIn, selling, accountId, deliverer } = life;
    standIn.acts.dispute(disputed.chargeId);
    const { id } = await refund(chargeId);
    await deliverer.deliverAll();
    await selling.events.resolveWaiting();
    const released = latch();
    standIn.hold = async ({ route }) => {
      if (route !== '/v1/disputes') return;
      standIn.hold = async () => undefined;
      await released.opened;
    };
    const responded = latch();
    standIn.onResponse = ({ route }) => route === '/v1/refunds' && responded.open();
    // It has seen the refund, and is held up before it writes.
    const slow = selling.sync.sweep();
    await responded.opened;
    standIn.acts.failRefund(id);
    await deliverer.deliverAll();
    await selling.events.resolveWaiting();
    // It is held up for longer than its claim lasts.
    life.clock.pass(LEASE_MS);
    await selling.sync.checkAt(accountId);
    released.open();
    await slow;
    assert.equal(await state(blockId), 'reversed', 'the older has written last');
    while ((await selling.sync.sweep()) > 0);
    assert.deepEqual([await left(), await state(blockId)], [QUOTA + 1000, 'granted']);
  });
});
