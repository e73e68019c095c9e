import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { BY_BILLING } from '../../../src/tenants/audit/audit-log.ts';
import { itemOf } from '../../support/stripe/subscription-life.ts';
import { deliverEvents, followEvents, type Life, useLifeRig } from './life-rig.ts';

/** The most calls to Stripe for one change, with the check that follows it. */
const MOST_CALLS = 12;
/**
 * Another process polls for due accounts this often, in milliseconds; in production it is ten times as much, as are the
 * delays.
 */
const SWEEP_MS = 25;
/** The calls of every check of a customer. */
const READ_PATHS = ['/v1/customers/:id', '/v1/subscriptions', '/v1/invoices'];

type Plan = 'starter' | 'professional' | 'business';

/** Changes while Stripe is slow, and a dispatcher follows their events as they come. */
describe('A change of a subscription, when Stripe is slow', () => {
  const rig = useLifeRig();
  let life: Life;
  let dispatching: Promise<void>;
  let over: boolean;
  let inFlight: Map<string, number>;
  let most: number;

  beforeEach(async () => {
    life = await rig.begin();
    inFlight = new Map();
    most = 0;
    over = false;
    dispatching = Promise.resolve();
  });
  afterEach(async () => {
    over = true;
    await dispatching;
    await life?.end();
  });

  const operations = () => life.selling.subscriptions;
  const checkout = (plan: Plan) => operations().checkout(life.accountId, plan);
  const subscription = () => [...life.standIn.books.subscriptions.values()][0]!;
  const planOf = () => itemOf(subscription()).price.metadata.platen_plan;
  const checks = () => life.standIn.calls.filter(({ route }) => route === '/v1/customers/:id').length;

  /** A subscriber whose check also queries payments, since automatic purchases are allowed. */
  async function subscribe(plan: Plan): Promise<void> {
    await checkout(plan);
    life.standIn.acts.completeCheckout([...life.standIn.books.sessions.keys()].at(-1)!);
    await followEvents(life);
    await life.selling.autoOverage.set(life.accountId, { enabled: true }, BY_BILLING);
  }

  /** From now on each call takes so long, and another process follows what happens, until `over`. */
  function begin(delayMs: number): void {
    const { standIn } = life;
    const other = rig.reopen(life);
    standIn.hold = async ({ route }) => {
      inFlight.set(route, (inFlight.get(route) ?? 0) + 1);
      most = Math.max(most, ...READ_PATHS.map((each) => inFlight.get(each) ?? 0));
      await sleep(delayMs);
      inFlight.set(route, inFlight.get(route)! - 1);
    };
    dispatching = (async () => {
      while (!over) {
        await deliverEvents(life);
        void other.sync.sweep();
        await sleep(SWEEP_MS);
      }
    })();
  }

  async function settled(): Promise<void> {
    for (;;) {
      const account = await life.billing.store.find(life.accountId);
      const { wanted, noted, claimedUntil } = account!;
      if (life.deliverer.waiting === 0 && wanted === noted && claimedUntil === undefined) return;
      await sleep(SWEEP_MS);
    }
  }

  /** @returns how many calls there were until the response, and how many checks after that. */
  async function counted(operation: () => Promise<unknown>): Promise<{ calls: number; checksAfter: number }> {
    await settled();
    life.standIn.calls.length = 0;
    await operation();
    const calls = life.standIn.calls.length;
    const before = checks();
    await settled();
    return { calls, checksAfter: checks() - before };
  }

  for (const delayMs of [25, 50, 100]) {
    it(`takes at most ${MOST_CALLS} calls, one check at a time, and one more after it: ${delayMs} ms a call`, async () => {
      await subscribe('professional');
      begin(delayMs);
      const { accountId } = life;
      for (const [name, operation] of [
        ['upgrade', () => checkout('business')],
        ['downgrade', () => checkout('starter')],
        ['another downgrade', () => checkout('professional')],
        ['cancel', () => operations().cancel(accountId)],
        ['resume', () => operations().resume(accountId)],
        ['cancel again', () => operations().cancel(accountId)],
        ['downgrade of one that was to end', () => checkout('starter')],
        ['the same plan', () => checkout('business')],
      ] as const) {
        const { calls, checksAfter } = await counted(operation);
        assert.ok(calls <= MOST_CALLS, `${name}: ${calls} calls`);
        assert.ok(checksAfter <= 1, `${name}: ${checksAfter} looks after it`);
        assert.equal(most, 1, `${name}: nothing is asked for twice at once`);
      }
      assert.equal(planOf(), 'business');
      assert.deepEqual([subscription().schedule, subscription().cancel_at_period_end], [null, false]);
    });
  }

  it('waits for another of the same account, in any process, and both are done', async () => {
    await subscribe('professional');
    begin(50);
    const other = rig.reopen(life).subscriptions;
    const { accountId } = life;
    const { calls } = await counted(() =>
      Promise.all([operations().cancel(accountId), other.cancel(accountId), operations().cancel(accountId)]),
    );
    assert.ok(calls <= 3 * MOST_CALLS, `${calls} calls`);
    assert.equal(subscription().cancel_at_period_end, true);
    await Promise.all([checkout('business'), other.checkout(accountId, 'business')]);
    assert.equal(subscription().cancel_at_period_end, false);
    assert.equal(planOf(), 'business');
    assert.equal(most, 1);
  });
});
