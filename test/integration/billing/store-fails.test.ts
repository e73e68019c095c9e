import assert from 'node:assert/strict';
import Stripe from 'stripe';
import type { Mail } from '../../../src/tenants/mail/mail.ts';
import { callApi, openApi } from '../http/support/api.ts';
import { FailingStore } from './failing-store.ts';
import { type Life, useLifeRig } from './life-rig.ts';
import { checkMirror, checkSubscription } from './subscription-oracle.ts';

const SECRET = 'whsec_for_tests';
/** Longer than an account is left to a silent process, or to one whose check failed. */
const AGAIN_MS = 600_000;
const OF_A_SYNC = [
  ...['billing_accounts', 'billing_events', 'billing_invoices', 'billing_list_cursors'],
  ...['accounts', 'audit_log', 'ledgers', 'billing_blocks', 'mails'],
];

describe('A store that fails', () => {
  let store: FailingStore;

  before(() => {
    store = new FailingStore(OF_A_SYNC);
  });
  after(() => store.restore());

  describe('while an event is taken', () => {
    for (const when of ['before', 'after'] as const) {
      it(`has the event sent again, and takes the repetition: ${when} the mark is written`, async () => {
        const api = await openApi({
          billing: {
            ...{ STRIPE_SECRET_KEY: 'sk_test_nobody', STRIPE_WEBHOOK_SECRET: SECRET },
            STRIPE_API_BASE: 'http://127.0.0.1:9',
          },
        });
        await api.billing.store.open('account');
        await api.billing.store.setCustomer('account', 1, 'cus_1');
        const payload = JSON.stringify({
          id: 'evt_1',
          object: 'event',
          type: 'customer.subscription.updated',
          created: Math.floor(api.domain.clock.now().getTime() / 1000),
          data: { object: { object: 'subscription', id: 'sub_1', customer: 'cus_1' } },
        });
        const signature = new Stripe('sk_test_x').webhooks.generateTestHeaderString({
          payload,
          secret: SECRET,
        });
        const send = () =>
          callApi(api.url, 'POST', '/webhooks/payments', payload, { 'payments-signature': signature });
        store.failAt(1, when);
        const { status, json } = await send();
        assert.equal(store.heal(), true);
        // The contract has 200 and 400 for this route: the provider repeats events without a 200.
        assert.deepEqual([status, json.code], [400, 'PAYMENT_EVENT_REFUSED']);
        const marked = when === 'before' ? 0 : 1;
        assert.equal((await api.billing.store.find('account'))!.wanted, marked);
        assert.equal((await send()).status, 200);
        const { wanted, dueAt } = (await api.billing.store.find('account'))!;
        assert.deepEqual([wanted, dueAt === undefined], [marked + 1, false]);
        await api.close();
      });
    }
  });

  describe('in the middle of a sync, at each of its writes one after the other', () => {
    const rig = useLifeRig();
    let life: Life;

    afterEach(() => life?.end());

    async function follow(): Promise<void> {
      const { deliverer, selling } = life;
      await deliverer.deliverAll();
      await selling.events.resolveWaiting();
      while ((await selling.sync.sweep()) > 0);
      await selling.changes.sweep();
    }
    async function subscribe(): Promise<void> {
      await life.selling.subscriptions.checkout(life.accountId, 'starter');
      const page = [...life.standIn.books.sessions.values()].at(-1)!;
      life.standIn.acts.completeCheckout(page.id);
    }
    /** The actor and the result of each change of the plan. */
    async function planChanges(): Promise<(string | undefined)[]> {
      const query = { limit: 100, offset: 0, newestFirst: false, action: 'account.plan_changed' } as const;
      return (await rig.audit.list(life.accountId, query)).entries.map(({ details: { to } }) => to);
    }
    const account = async () => (await rig.accounts.findNow(life.accountId))!;

    /**
     * Runs one fold in which the `nth` write fails, and then what comes after it.
     *
     * @returns false when the fold has fewer writes.
     */
    async function syncFailingAt(nth: number, when: 'before' | 'after', begin: () => Promise<void>) {
      life = await rig.begin();
      await begin();
      await life.deliverer.deliverAll();
      await life.selling.events.resolveWaiting();
      store.failAt(nth, when);
      await life.selling.sync.sweep().catch(() => undefined);
      const failed = store.heal();
      const { plan, quotaWindow = null } = await account();
      assert.equal(plan === 'free', quotaWindow === null, 'plan and period are of one subscription');
      life.clock.pass(AGAIN_MS);
      await follow();
      await checkSubscription(life, rig);
      await checkMirror(life);
      return failed;
    }

    for (const when of ['before', 'after'] as const) {
      it(`ends as without an error, when a plan begins: ${when} the write is done`, async () => {
        let nth = 1;
        while (await syncFailingAt(nth, when, subscribe)) {
          assert.equal((await account()).plan, 'starter');
          assert.deepEqual(await planChanges(), ['starter']);
          await life.end();
          nth += 1;
        }
        assert.ok(nth > 6, `${nth - 1} writes`);
      });

      it(`ends as without an error, when a plan ends: ${when} the write is done`, async () => {
        let nth = 1;
        const end = async () => {
          await subscribe();
          await follow();
          const [subscription] = life.standIn.books.subscriptions.keys();
          await life.selling.gateway.stripe.subscriptions.cancel(subscription!);
        };
        while (await syncFailingAt(nth, when, end)) {
          assert.equal((await account()).plan, 'free');
          assert.deepEqual(await planChanges(), ['starter', 'free']);
          const mails = rig.connection.collection<Mail>('mails').find({ accountId: life.accountId });
          assert.deepEqual(
            (await mails.toArray()).map(({ content: { kind } }) => kind),
            ['subscription-ended'],
          );
          await life.end();
          nth += 1;
        }
        assert.ok(nth > 6, `${nth - 1} writes`);
      });
    }
  });
});
