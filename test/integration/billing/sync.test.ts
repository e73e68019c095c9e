import assert from 'node:assert/strict';
import { pino } from 'pino';
import { InvoiceMirror } from '../../../src/billing/invoices/invoice-mirror.ts';
import type {
  CustomerSnapshot,
  SubscriptionSnapshot,
} from '../../../src/billing/stripe/provider-snapshot.ts';
import { BillingStore } from '../../../src/billing/subscriptions/billing-store.ts';
import { SubscriptionSync } from '../../../src/billing/subscriptions/subscription-sync.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { LEASE_MS } from '../../../src/infra/store/due-queue.ts';
import type { AccountStore } from '../../../src/tenants/accounts/account-store.ts';
import { useDomain } from '../../support/domain.ts';
import { openShop } from './life-rig.ts';

const HOUR_MS = 3_600_000;
const START = new Date('2026-03-10T12:00:00Z');
const END = new Date('2100-04-10T12:00:00Z');
function subscribed(over: Partial<SubscriptionSnapshot> = {}): SubscriptionSnapshot {
  return {
    id: 'sub_1',
    status: 'active',
    createdAt: START,
    endedAt: null,
    cancelAt: null,
    cancelAtPeriodEnd: false,
    collectionPaused: false,
    itemId: 'si_1',
    priceId: 'price_1',
    plan: 'starter',
    period: { start: START, end: END },
    schedule: null,
    ...over,
  };
}

/** The store and the sync on a real database; the test supplies the provider's responses. */
describe('syncing with the provider', () => {
  const domain = useDomain();
  let services: ReturnType<typeof openShop>;
  let accounts: AccountStore;
  let store: BillingStore;
  let mirror: InvoiceMirror;
  let reported: { -readonly [F in 'deleted' | 'subscriptions' | 'invoices']: CustomerSnapshot[F] };
  let calls: string[];
  let whileAsked: () => Promise<void>;
  let accountId: string;
  let made = 0;

  before(async () => {
    const { connection, clock } = domain;
    services = openShop(connection, clock);
    accounts = services.accounts;
    store = new BillingStore(connection, clock);
    mirror = new InvoiceMirror(connection);
    await ensureIndexes(connection);
  });
  beforeEach(async () => {
    made += 1;
    accountId = (await accounts.create(`owner${made}@example.com`, null, 'free'))!._id;
    await store.open(accountId);
    await store.setCustomer(accountId, 1, `cus_${made}`);
    reported = { deleted: false, subscriptions: [], invoices: [] };
    calls = [];
    whileAsked = async () => undefined;
  });

  const newSync = () =>
    new SubscriptionSync({
      store,
      mirror,
      gateway: {
        async customer(customerId) {
          const response = { customerId, ...reported };
          await whileAsked();
          return response;
        },
        subscriptions: async () => reported.subscriptions.slice(),
        undoDuplicate: async (id) => void calls.push(`undo ${id}`),
        voidInvoice: async (id) => void calls.push(`void ${id}`),
      },
      accountService: services.accountService,
      isPlan: (name) => name in { free: 1, starter: 1, professional: 1 },
      clock: domain.clock,
      logger: pino({ level: 'silent' }),
    });
  const event = (cause = 'customer.subscription.updated') => store.want(`cus_${made}`, cause);
  const account = async () => (await accounts.find(accountId))!;
  const planChanges = async () => {
    const query = { limit: 100, offset: 0, newestFirst: false, action: 'account.plan_changed' } as const;
    return (await services.audit.list(accountId, query)).entries.map(({ actor, details }) => ({
      actor,
      ...details,
    }));
  };

  it('gives the account the plan and the period of its subscription, and records why', async () => {
    reported.subscriptions = [subscribed()];
    assert.equal(await event(), true);
    assert.equal(await newSync().sweep(), 1);
    const { plan, quotaWindow } = await account();
    assert.deepEqual([plan, quotaWindow], ['starter', { start: START, end: END }]);
    const cause = 'customer.subscription.updated';
    assert.deepEqual(await planChanges(), [{ actor: 'billing', from: 'free', to: 'starter', cause }]);
    assert.equal(await newSync().sweep(), 0, 'nothing more is due');
    for (let i = 0; i < 5; i += 1) await event();
    await newSync().sweep();
    assert.equal((await planChanges()).length, 1);
  });

  it('ignores customers of others', async () => {
    assert.equal(await store.want('cus_of_another_service', 'invoice.paid'), false);
  });

  it('checks again when an event comes during a query', async () => {
    reported.subscriptions = [subscribed()];
    await event();
    whileAsked = async () => {
      whileAsked = async () => undefined;
      reported.subscriptions = [subscribed({ plan: 'professional' })];
      await event();
    };
    const sync = newSync();
    await sync.sweep();
    assert.equal((await account()).plan, 'starter');
    await sync.sweep();
    assert.equal((await account()).plan, 'professional');
    assert.equal(await sync.sweep(), 0);
  });

  it('lets no overtaken process write', async () => {
    reported.subscriptions = [subscribed()];
    await event();
    const sync = newSync();
    whileAsked = async () => {
      whileAsked = async () => undefined;
      // The first is held up for so long that its claim is over.
      domain.clock.pass(LEASE_MS);
      reported.subscriptions = [subscribed({ plan: 'professional' })];
      await event();
      await newSync().sweep();
      assert.equal((await account()).plan, 'professional');
    };
    await sync.sweep();
    assert.equal((await account()).plan, 'professional');
    assert.equal((await store.find(accountId))!.state?.plan, 'professional');
  });

  it('has the same result for any order of events, in any number of processes', async () => {
    const lives = [
      [subscribed({ status: 'incomplete' })],
      [subscribed()],
      [subscribed({ plan: 'professional' })],
      [subscribed({ status: 'canceled', endedAt: START })],
      [subscribed({ status: 'canceled', endedAt: START }), subscribed({ id: 'sub_2', plan: 'starter' })],
    ];
    const syncs = [newSync(), newSync(), newSync()];
    for (const subscriptions of lives) {
      reported.subscriptions = subscriptions;
      await Promise.all([event(), ...syncs.map((sync) => sync.sweep()), event()]);
    }
    while ((await Promise.all(syncs.map((sync) => sync.sweep()))).some((checked) => checked > 0));
    assert.equal((await account()).plan, 'starter');
    const { state, wanted, noted } = (await store.find(accountId))!;
    assert.deepEqual([state?.subscriptionId, noted], ['sub_2', wanted]);
  });

  it('tries again later when the provider does not respond', async () => {
    await event();
    whileAsked = () => Promise.reject(new Error('away'));
    const sync = newSync();
    await sync.sweep();
    assert.equal(await sync.sweep(), 0);
    whileAsked = async () => undefined;
    reported.subscriptions = [subscribed()];
    domain.clock.pass(HOUR_MS);
    await sync.sweep();
    assert.equal((await account()).plan, 'starter');
  });

  it('checks again after a claim that was never ended', async () => {
    reported.subscriptions = [subscribed()];
    await event();
    const [due] = await store.due(10);
    assert.ok(await store.claimCustomer(due!));
    assert.equal(await store.claimCustomer(due!), undefined, 'the same claim twice');
    assert.equal(await newSync().sweep(), 0);
    domain.clock.pass(HOUR_MS);
    assert.equal(await newSync().sweep(), 1);
    assert.equal((await account()).plan, 'starter');
  });

  it('leaves an account alone that another process has claimed, and has it checked once more if an event has come', async () => {
    reported.subscriptions = [subscribed()];
    await event();
    const others: number[] = [];
    whileAsked = async () => {
      whileAsked = async () => undefined;
      await event();
      others.push(await newSync().sweep());
    };
    const sync = newSync();
    assert.equal(await sync.sweep(), 1);
    assert.deepEqual(others, [0]);
    assert.equal(await sync.sweep(), 1);
    assert.equal(await sync.sweep(), 0);
  });

  it('leaves a plan that was set by hand until the subscription changes', async () => {
    await event();
    await newSync().sweep();
    await services.accountService.setPlan(await account(), 'business', { actor: 'operator' });
    await event();
    await newSync().sweep();
    assert.equal((await account()).plan, 'business');
    reported.subscriptions = [subscribed()];
    await event();
    await newSync().sweep();
    assert.equal((await account()).plan, 'starter');
  });

  it("keeps the plan while it does not understand the provider's state", async () => {
    reported.subscriptions = [subscribed()];
    await event();
    await newSync().sweep();
    reported.subscriptions = [subscribed({ status: 'dormant' })];
    await event();
    await newSync().sweep();
    const { plan, quotaWindow } = await account();
    assert.deepEqual([plan, quotaWindow], ['starter', { start: START, end: END }]);
  });

  it('ends second subscriptions, voids invoices of ended ones, and copies the invoices', async () => {
    const second = subscribed({ id: 'sub_2', createdAt: new Date(START.getTime() + HOUR_MS) });
    const ended = subscribed({ id: 'sub_0', status: 'canceled', endedAt: START });
    reported.subscriptions = [second, subscribed(), ended];
    const invoice = {
      id: `in_${made}`,
      number: 'A-1',
      status: 'open',
      currency: 'usd',
      amountDueCents: 1900,
      amountPaidCents: 0,
      createdAt: START,
      hostedInvoiceUrl: 'https://pay.example/1',
      pdfUrl: null,
      subscriptionId: 'sub_0',
      blockId: null,
      subscriptionPeriod: null,
    };
    reported.invoices = [invoice];
    await event();
    await newSync().sweep();
    assert.deepEqual(calls, ['undo sub_2', `void in_${made}`]);
    const { invoices } = await mirror.list(accountId, { sort: 'created_desc', limit: 10, offset: 0 });
    assert.deepEqual(
      invoices.map(({ _id, status }) => [_id, status]),
      [[invoice.id, 'open']],
    );
  });

  it('removes a deleted customer, and its plan', async () => {
    reported.subscriptions = [subscribed()];
    await event();
    await newSync().sweep();
    reported = { deleted: true, subscriptions: [], invoices: [] };
    await event('customer.deleted');
    await newSync().sweep();
    const { plan, quotaWindow } = await account();
    assert.deepEqual([plan, quotaWindow], ['free', null]);
    const { customerId, generation } = (await store.find(accountId))!;
    assert.deepEqual([customerId, generation], [undefined, 2]);
  });
});
