import assert from 'node:assert/strict';
import { billingSweeps } from '../../../src/billing/billing-sweeps.ts';
import { followEvents, type Life, useLifeRig } from './life-rig.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Customers that one run checks. */
const A_RUN = 20;

describe('Reconciliation with the provider', () => {
  const rig = useLifeRig();
  let life: Life;

  beforeEach(async () => {
    life = await rig.begin();
  });
  afterEach(() => life?.end());

  const follow = () => followEvents(life);

  describe('of downgrades that a crash has left half-made', () => {
    beforeEach(async () => {
      await life.selling.subscriptions.checkout(life.accountId, 'professional');
      const page = [...life.standIn.books.sessions.values()].find(({ status }) => status === 'open')!;
      life.standIn.acts.completeCheckout(page.id);
      await follow();
    });

    const schedule = () => [...life.standIn.books.schedules.values()].at(-1)!;
    const subscription = () => [...life.standIn.books.subscriptions.values()][0]!;
    /** As after a crash: the first call has made the schedule, and the second one was never sent. */
    async function dieBetweenTheCalls(): Promise<void> {
      life.standIn.problemOf = ({ method, route }) =>
        method === 'POST' && route === '/v1/subscription_schedules/:id' ? 'unsent' : undefined;
      await assert.rejects(life.selling.subscriptions.checkout(life.accountId, 'starter'));
      life.standIn.problemOf = () => undefined;
      assert.deepEqual([schedule().status, schedule().phases.length], ['active', 1]);
      // No event reports it: a check does.
      assert.equal(await reconcile(), 0);
      assert.equal((await state()).scheduleId, schedule().id);
    }
    /** One run of the dispatcher's sweeps. @returns how many schedules its metric has counted. */
    async function reconcile(): Promise<number> {
      const sweeps = billingSweeps(life.billing, { PLATEN_SWEEP_MS: 1_000 }, rig.metrics);
      const counted = async () => {
        const { values } = await rig.metrics.reconcileFindings.get();
        return values.find(({ labels }) => labels.kind === 'schedule')!.value;
      };
      const before = await counted();
      for (const each of ['half-made-schedules', 'reconcile-customers'])
        await sweeps.find(({ name }) => name === each)!.run();
      await follow();
      return (await counted()) - before;
    }
    async function endOfPeriod(): Promise<void> {
      const { current_period_end: end } = subscription().items.data[0]!;
      life.clock.pass(end * 1000 - life.clock.now().getTime() + 2 * 60 * MINUTE_MS);
      await follow();
    }
    const plan = async () => (await rig.accounts.findNow(life.accountId))!.plan;
    const state = async () => (await life.billing.store.find(life.accountId))!.state!;

    it('finishes them where the call is still known, and not before its process is surely dead', async () => {
      await dieBetweenTheCalls();
      life.clock.pass(9 * MINUTE_MS);
      assert.equal(await reconcile(), 0);
      life.clock.pass(MINUTE_MS);
      assert.equal(await reconcile(), 1);
      assert.equal((await state()).scheduledPlan, 'starter');
      assert.equal(await reconcile(), 0);
      await endOfPeriod();
      assert.equal(await plan(), 'starter');
    });

    it('releases them where it is not, and the customer may try again', async () => {
      await dieBetweenTheCalls();
      const { operation } = (await life.billing.store.find(life.accountId))!;
      await life.billing.store.endOperation(life.accountId, operation!.key);
      life.clock.pass(10 * MINUTE_MS);
      assert.equal(await reconcile(), 1);
      assert.equal(schedule().status, 'released');
      assert.deepEqual([subscription().schedule, (await state()).scheduleId], [null, null]);
      assert.equal(await life.selling.subscriptions.checkout(life.accountId, 'starter'), '');
      await endOfPeriod();
      assert.equal(await plan(), 'starter');
    });

    it('releases them when Stripe has forgotten the key of the call', async () => {
      await dieBetweenTheCalls();
      life.clock.pass(DAY_MS);
      assert.equal(await reconcile(), 1);
      assert.equal(schedule().status, 'released');
      await endOfPeriod();
      assert.equal(await plan(), 'professional');
    });

    it('leaves them alone when the customer has tried again meanwhile', async () => {
      await dieBetweenTheCalls();
      life.clock.pass(10 * MINUTE_MS);
      await life.selling.subscriptions.checkout(life.accountId, 'starter');
      assert.equal(await reconcile(), 0);
      assert.equal((await state()).scheduledPlan, 'starter');
    });

    it('finds none where all went well, nor where an operator lets the subscription end', async () => {
      const { subscriptions, gateway } = life.selling;
      await subscriptions.checkout(life.accountId, 'starter');
      life.clock.pass(DAY_MS);
      assert.equal(await reconcile(), 0);
      await endOfPeriod();
      assert.equal(await reconcile(), 0, 'in its second phase');
      const { subscriptionSchedules } = gateway.stripe;
      await subscriptionSchedules.release(schedule().id);
      const { id } = await subscriptionSchedules.create({ from_subscription: subscription().id });
      await subscriptionSchedules.update(id, { end_behavior: 'cancel' });
      await follow();
      life.clock.pass(DAY_MS);
      assert.equal(await reconcile(), 0);
      assert.equal(schedule().status, 'active');
    });
  });

  it('checks all customers one after the other, though every run is in a new process', async () => {
    const { store } = life.billing;
    const ids = [life.accountId];
    for (let made = 0; made < 2 * A_RUN; made += 1) {
      const { _id } = (await rig.accounts.create(`c${made}.${life.accountId}@example.com`, null, 'free'))!;
      await store.open(_id);
      await store.setCustomer(_id, 1, `cus_${_id}`);
      ids.push(_id);
    }
    const wanted = async () => Promise.all(ids.map(async (id) => (await store.find(id))!.wanted));
    const before = await wanted();
    const checked = async () => (await wanted()).filter((now, index) => now > before[index]!).length;
    for (const expected of [A_RUN, 2 * A_RUN, 2 * A_RUN + 1]) {
      await rig.reopen(life).reconcile.customers();
      assert.equal(await checked(), expected);
    }
    // The round begins again.
    await rig.reopen(life).reconcile.customers();
    const twice = (await wanted()).filter((now, index) => now > before[index]! + 1).length;
    assert.equal(twice, A_RUN);
  });
});
