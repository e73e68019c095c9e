import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { type Billing, openBilling, type Selling } from '../../../src/billing/open-billing.ts';
import { setUpStripe } from '../../../src/billing/setup.ts';
import { EVENT_TYPES } from '../../../src/billing/subscriptions/payment-events.ts';
import { loadConfig } from '../../../src/config/config.ts';
import type { Clock } from '../../../src/infra/clock.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { createMetrics, type Metrics } from '../../../src/roles/metrics.ts';
import { AccountStore } from '../../../src/tenants/accounts/account-store.ts';
import type { AuditLog } from '../../../src/tenants/audit/audit-log.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { openTenants } from '../../../src/tenants/open-tenants.ts';
import { BUILT_IN, HeldPlans } from '../../../src/tenants/plans/plan-source.ts';
import { BlockLedger } from '../../../src/work/jobs/blocks/block-ledger.ts';
import { openLedgers } from '../../../src/work/jobs/ledger/ledger-record.ts';
import { openDomain } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';
import { StillClock } from '../../support/still-clock.ts';
import type { Books } from '../../support/stripe/books.ts';
import { Deliverer, FAIR, type Weather } from '../../support/stripe/deliverer.ts';
import { StripeStandIn } from '../../support/stripe/stand-in.ts';
import { used } from '../../support/used.ts';

const SECRET = 'whsec_for_tests';
const DAY_MS = 86_400_000;
const WEBHOOK_URL = 'https://platen.test/webhooks/payments';
/** The collections of one life, which have to be cleared for the next. */
const OF_A_LIFE = [
  ...['billing_accounts', 'billing_events', 'billing_missed_events', 'billing_invoices'],
  'billing_list_cursors',
  ...['billing_blocks', 'mails', 'ledgers'],
];

/** One customer, with a Stripe and a time of their own, over the database of the rig. */
export interface Life {
  readonly clock: StillClock;
  readonly standIn: StripeStandIn;
  /** Where it listens. */
  readonly apiBase: string;
  readonly billing: Billing;
  readonly selling: Selling;
  readonly deliverer: Deliverer;
  readonly accountId: string;
  readonly customerId: string;
  end(): Promise<void>;
}

export interface LifeRig {
  /** Of the database. */
  readonly uri: string;
  readonly audit: AuditLog;
  readonly connection: Connection;
  readonly accounts: AccountStore;
  readonly plans: HeldPlans;
  readonly metrics: Metrics;
  /** @param options.afterEvent runs when an event was taken, and before the next one is sent. */
  begin(options?: {
    random?: () => number;
    weather?: Weather;
    afterEvent?: () => Promise<void>;
  }): Promise<Life>;
  /** Billing in another process, which knows only what is stored. */
  reopen(life: Life): Selling;
  close(): Promise<void>;
}

/** Accounts, and billing on them at the Stripe of an address. To be made before the connection's indexes are. */
export function openShop(connection: Connection, clock: Clock) {
  const logger = pino({ level: 'silent' });
  const plans = new HeldPlans(BUILT_IN);
  const metrics = createMetrics('test');
  const core = { connection, clock, logger, plans, metrics };
  const config = loadConfig('standalone', {});
  const tenants = openTenants({ ...core, config, accounts: new AccountStore(connection, clock) });
  return {
    ...tenants,
    ...core,
    /** @param at the time of a life, and its Stripe. */
    bill: (at: Clock, STRIPE_API_BASE: string, STRIPE_SECRET_KEY: string): Billing =>
      openBilling({
        ...tenants,
        ...{ ...core, clock: at },
        blockLedger: new BlockLedger(openLedgers(connection), at),
        outbox: new MailOutbox(connection, at),
        config: { ...config, STRIPE_API_BASE, STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET: SECRET },
        publicUrl: () => 'https://platen.test',
      }),
  };
}

/** Billing as the dispatcher and the API run it, against a stand-in of Stripe. */
export async function openLifeRig(): Promise<LifeRig> {
  const { uri } = await startMongo();
  const domain = await openDomain({ uri });
  const { connection } = domain;
  const { accounts, plans, metrics, audit, bill } = openShop(connection, domain.clock);
  let shop: Shop | undefined;
  let lives = 0;
  const open = ({ clock, standIn, apiBase }: Pick<Life, 'clock' | 'standIn' | 'apiBase'>) =>
    bill(clock, apiBase, standIn.secretKey);
  return {
    uri,
    audit,
    connection,
    accounts,
    plans,
    metrics,
    async begin({ random = () => 0.5, weather = FAIR, afterEvent = async () => {} } = {}) {
      lives += 1;
      const clock = new StillClock();
      const standIn = new StripeStandIn({ clock });
      const apiBase = await standIn.listen();
      const billing = open({ clock, standIn, apiBase });
      const selling = billing.selling!;
      // Stripe's library waits before it repeats a call, by a clock of its own.
      Reflect.set(selling.gateway.stripe, 'getInitialNetworkRetryDelay', () => 0);
      if (shop === undefined) {
        await ensureIndexes(connection);
        await setUpStripe(selling.gateway, plans, WEBHOOK_URL);
        const { products, prices, portalConfigurations } = standIn.books;
        shop = structuredClone({ products, prices, portalConfigurations });
      } else stock(standIn.books, shop);
      const deliverer = new Deliverer({
        ...{ standIn, secret: SECRET, random, weather, types: new Set<string>(EVENT_TYPES) },
        async post(payload, signature) {
          const taken = await selling.events.accept(Buffer.from(payload), signature).catch(() => undefined);
          if (taken === undefined) return 400;
          await afterEvent();
          return 200;
        },
      });
      const { _id: accountId } = (await accounts.create(`owner${lives}@example.com`, null, 'free'))!;
      const customerId = await selling.subscriptions.customerOf(accountId);
      return {
        ...{ clock, standIn, apiBase, billing, selling, deliverer, accountId, customerId },
        async end() {
          await standIn.close();
          for (const name of OF_A_LIFE) await connection.collection(name).deleteMany({});
        },
      };
    },
    reopen: (life) => open(life).selling!,
    close: () => domain.close(),
  };
}

/** A rig for the tests of one `describe`, there from its `before` on. */
export function useLifeRig(): LifeRig {
  return used(openLifeRig);
}

type Shop = Pick<Books, 'products' | 'prices' | 'portalConfigurations'>;

/** Products and prices are made once: they are the same in every life. */
function stock(books: Books, { products, prices, portalConfigurations }: Shop): void {
  for (const [id, product] of products) books.products.set(id, structuredClone(product));
  for (const [id, price] of prices) books.prices.set(id, structuredClone(price));
  for (const [id, one] of portalConfigurations) books.portalConfigurations.set(id, structuredClone(one));
}

/** Delivers all events of Stripe to the dispatcher. */
export async function deliverEvents({ standIn, deliverer, selling }: Life): Promise<void> {
  standIn.catchUp();
  await deliverer.deliverAll();
  await selling.events.resolveWaiting();
}

/** The same, and checks the customer until nothing is due, as the dispatcher does. */
export async function followEvents(life: Life): Promise<void> {
  await deliverEvents(life);
  while ((await life.selling.sync.sweep()) > 0);
}

/** Passes `count` days, and follows the events of each. */
export async function passDays({ clock }: Life, count: number, follow: () => Promise<void>): Promise<void> {
  for (let day = 0; day < count; day += 1) {
    clock.pass(DAY_MS);
    await follow();
  }
}
