import assert from 'node:assert/strict';
import type {
  CustomerSnapshot,
  InvoiceSnapshot,
  SubscriptionSnapshot,
} from '../../../src/billing/stripe/provider-snapshot.ts';
import { type SubscriptionState, syncSubscription } from '../../../src/billing/subscriptions/entitlement.ts';

const DAY_MS = 86_400_000;
const START = new Date('2026-03-10T12:00:00Z');
const END = new Date('2026-04-10T12:00:00Z');
const NOW = new Date('2026-03-12T00:00:00Z');
const period = { start: START, end: END };
const GRACE_END = new Date(START.getTime() + 7 * DAY_MS);
const before = { start: new Date('2026-02-10T12:00:00Z'), end: GRACE_END };
const isPlan = (name: string) => ['free', 'starter', 'professional'].includes(name);

function subscription(over: Partial<SubscriptionSnapshot> = {}): SubscriptionSnapshot {
  return {
    id: 'sub_1',
    status: 'active',
    createdAt: new Date('2026-01-10T12:00:00Z'),
    endedAt: null,
    cancelAt: null,
    cancelAtPeriodEnd: false,
    collectionPaused: false,
    itemId: 'si_1',
    priceId: 'price_1',
    plan: 'starter',
    period,
    schedule: null,
    ...over,
  };
}

function invoice(over: Partial<InvoiceSnapshot>): InvoiceSnapshot {
  return {
    id: 'in_1',
    number: null,
    status: 'paid',
    currency: 'usd',
    amountDueCents: 1900,
    amountPaidCents: 1900,
    createdAt: START,
    hostedInvoiceUrl: null,
    pdfUrl: null,
    subscriptionId: 'sub_1',
    blockId: null,
    subscriptionPeriod: null,
    ...over,
  };
}

function sync(over: Partial<CustomerSnapshot>, now = NOW): SubscriptionState {
  const customer = { customerId: 'cus_1', deleted: false, subscriptions: [], invoices: [], ...over };
  return syncSubscription(customer, { now, isPlan });
}
const syncOne = (over: Partial<SubscriptionSnapshot>, now?: Date) =>
  sync({ subscriptions: [subscription(over)] }, now);

describe("syncing a customer's state from the provider", () => {
  it('follows every row of the table of states', () => {
    const late = GRACE_END;
    const rows: [string, Partial<SubscriptionSnapshot>, Date, unknown[]][] = [
      // status, plan in force, quota, may buy by itself
      ['active', {}, NOW, ['active', 'starter', period, true]],
      ['active, collection paused', { collectionPaused: true }, NOW, ['active', 'starter', period, false]],
      ['trialing', { status: 'trialing' }, NOW, ['trialing', 'starter', period, false]],
      ['past_due', { status: 'past_due' }, NOW, ['past_due', 'starter', before, false]],
      ['past_due, grace over', { status: 'past_due' }, late, ['past_due', 'free', null, false]],
      ['unpaid', { status: 'unpaid' }, NOW, ['unpaid', 'free', null, false]],
      ['paused', { status: 'paused' }, NOW, ['paused', 'free', null, false]],
      ['incomplete', { status: 'incomplete' }, NOW, ['none', 'free', null, false]],
      ['incomplete_expired', { status: 'incomplete_expired' }, NOW, ['none', 'free', null, false]],
      ['canceled', { status: 'canceled', endedAt: NOW }, NOW, ['canceled', 'free', null, false]],
      ['unknown status', { status: 'dormant' }, NOW, ['dormant', 'keep', null, false]],
      ['unknown price', { plan: undefined }, NOW, ['active', 'keep', null, false]],
      ['price of no plan', { plan: 'gold' }, NOW, ['active', 'keep', null, false]],
    ];
    for (const [name, over, now, expected] of rows) {
      const { status, inForce, quota, mayBuyByItself } = syncOne(over, now);
      assert.deepEqual([status, inForce, quota, mayBuyByItself], expected, name);
    }
  });

  it('reports what it does not understand', () => {
    assert.deepEqual(syncOne({ status: 'dormant' }).problems, ['subscription sub_1: status dormant']);
    assert.deepEqual(syncOne({ plan: 'gold' }).problems, ['subscription sub_1: price price_1 names no plan']);
    assert.deepEqual(syncOne({}).problems, []);
  });

  it('freezes the period that was paid last while a renewal is owed', () => {
    const owes = subscription({ status: 'past_due' });
    const older = { start: new Date('2026-01-10T12:00:00Z'), end: before.start };
    const frozen = { start: older.start, end: GRACE_END };
    const invoices = [
      invoice({ id: 'in_open', status: 'open', subscriptionPeriod: period }),
      invoice({ id: 'in_other', subscriptionId: 'sub_9', subscriptionPeriod: period }),
      invoice({ id: 'in_old', subscriptionPeriod: older }),
      invoice({ id: 'in_proration' }),
    ];
    const state = sync({ subscriptions: [owes], invoices });
    assert.deepEqual(state.quota, frozen);
    assert.deepEqual(state.graceEndsAt, GRACE_END);
    assert.deepEqual(state.checkAgainAt, state.graceEndsAt);
    const paid = sync({ subscriptions: [owes], invoices: [invoice({ subscriptionPeriod: period })] });
    assert.deepEqual(paid.quota, { start: START, end: GRACE_END });
  });

  it('takes a cancellation from either field', () => {
    assert.equal(syncOne({}).cancelAtPeriodEnd, false);
    assert.equal(syncOne({ cancelAtPeriodEnd: true }).cancelAtPeriodEnd, true);
    assert.equal(syncOne({ cancelAt: END }).cancelAtPeriodEnd, true);
  });

  it('reports a plan that begins later, while its schedule is in force', () => {
    const phases = [
      { startsAt: START, plan: undefined },
      { startsAt: END, plan: 'free' },
    ];
    const reported = syncOne({ schedule: { id: 'sch', status: 'active', phases } });
    assert.deepEqual(
      [reported.scheduleId, reported.scheduledPlan, reported.scheduledAt],
      ['sch', 'free', END],
    );
    const released = syncOne({ schedule: { id: 'sch', status: 'released', phases } });
    assert.deepEqual([released.scheduleId, released.scheduledPlan], [null, null]);
    // Made, but its second call never had a response.
    const half = syncOne({ schedule: { id: 'sch', status: 'active', phases: phases.slice(0, 1) } });
    assert.deepEqual([half.scheduleId, half.scheduledPlan], ['sch', null]);
  });

  it('counts the oldest of several, in any order', () => {
    const first = subscription();
    const second = subscription({ id: 'sub_2', plan: 'professional', createdAt: NOW });
    const ended = subscription({ id: 'sub_0', status: 'canceled', createdAt: new Date(0), endedAt: NOW });
    const expected = sync({ subscriptions: [first, second, ended] });
    assert.equal(expected.subscriptionId, 'sub_1');
    assert.deepEqual(expected.duplicates, ['sub_2']);
    for (const subscriptions of [
      [second, ended, first],
      [ended, second, first],
      [first, ended, second],
    ]) {
      assert.deepEqual(sync({ subscriptions }), expected);
    }
  });

  it('names the open invoices of ended subscriptions, and no others', () => {
    const ended = subscription({ id: 'sub_0', status: 'canceled', endedAt: NOW });
    const invoices = [
      invoice({ id: 'in_open', status: 'open', subscriptionId: 'sub_0' }),
      invoice({ id: 'in_paid', subscriptionId: 'sub_0' }),
      invoice({ id: 'in_other', status: 'open' }),
      invoice({ id: 'in_block', status: 'open', subscriptionId: null }),
    ];
    const state = sync({ subscriptions: [ended, subscription()], invoices });
    assert.deepEqual(state.invoicesToVoid, ['in_open']);
  });

  it('has nothing for a customer that was deleted', () => {
    const state = sync({ deleted: true, subscriptions: [subscription()] });
    assert.deepEqual([state.status, state.inForce, state.quota], ['none', 'free', null]);
  });
});
