import type { Config } from '../config/config.ts';
import type { Core } from '../infra/core.ts';
import type { Tenants } from '../tenants/open-tenants.ts';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import type { BlockLedger } from '../work/jobs/blocks/block-ledger.ts';
import { UnrecordedChanges } from '../work/jobs/blocks/unrecorded-changes.ts';
import type { BillingMetrics } from './billing-metrics.ts';
import { BlockStore } from './blocks/block-store.ts';
import { DisableLinks } from './blocks/disable-links.ts';
import { Disputes } from './blocks/disputes.ts';
import { openBlocks } from './blocks/open-blocks.ts';
import { InvoiceMirror } from './invoices/invoice-mirror.ts';
import { Catalogue } from './stripe/catalogue.ts';
import { ListCursors } from './stripe/list-cursors.ts';
import { StripeGateway } from './stripe/stripe-gateway.ts';
import { StripeSchedules } from './stripe/stripe-schedules.ts';
import { BillingStore } from './subscriptions/billing-store.ts';
import { HalfMadeSchedules } from './subscriptions/half-made-schedules.ts';
import { HostedPages } from './subscriptions/hosted-pages.ts';
import { invoiceHistory } from './subscriptions/invoice-history.ts';
import { KeyedOperations } from './subscriptions/keyed-operations.ts';
import { notifyOfDuplicate, notifyOfEnd, notifyOwner } from './subscriptions/notify-owner.ts';
import { PaymentEvents } from './subscriptions/payment-events.ts';
import { Reconcile } from './subscriptions/reconcile.ts';
import { Subscriptions } from './subscriptions/subscription-service.ts';
import {
  ERROR_KINDS,
  type ErrorKind,
  SubscriptionSync,
  SYNC_OUTCOMES,
} from './subscriptions/subscription-sync.ts';

export type BillingConfig = Pick<Config, 'STRIPE_SECRET_KEY' | 'STRIPE_WEBHOOK_SECRET' | 'STRIPE_API_BASE'>;

interface BillingDeps
  extends Pick<Core, 'connection' | 'clock' | 'logger'>,
    Pick<Tenants, 'accounts' | 'accountService' | 'audit' | 'outbox'> {
  /** A number in [0, 1) that spreads retries; default `Math.random`. */
  readonly random?: () => number;
  readonly metrics: BillingMetrics;
  readonly plans: PlanSource;
  readonly blockLedger: BlockLedger;
  readonly config: BillingConfig;
  /** The start of absolute addresses; called when one is needed. */
  readonly publicUrl: () => string;
  /** Called once an account has a block that it has bought, and after a crash again. */
  readonly onGranted?: (accountId: string) => Promise<void>;
}

/** To be opened once a process, before the connection's indexes are created. */
export function openBilling(deps: BillingDeps) {
  const { connection, clock, random, logger, metrics, plans, accounts } = deps;
  const { accountService, config, publicUrl } = deps;
  const store = new BillingStore(connection, clock, random);
  const mirror = new InvoiceMirror(connection);
  const blocks = new BlockStore(connection, clock, random);
  const cursors = new ListCursors(connection);
  const changes = new UnrecordedChanges(deps.blockLedger, deps.audit);
  const disableLinks = new DisableLinks(connection);
  const kept = { store, mirror, blocks, blockLedger: deps.blockLedger, disableLinks };
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_API_BASE: apiBase } = config;
  if (secretKey === undefined) return { ...kept, selling: undefined };
  countFromZero(metrics);
  const gateway = new StripeGateway({ secretKey, apiBase });
  const webhookSecret = config.STRIPE_WEBHOOK_SECRET;
  const events = new PaymentEvents({ connection, clock, random, store, gateway, webhookSecret });
  const catalogue = new Catalogue(gateway, clock);
  const returnUrl = () => `${publicUrl()}/dashboard/billing`;
  const pages = new HostedPages({ store, gateway, clock });
  const observeError = (kind: ErrorKind) => metrics.billingErrors.inc({ kind });
  const overage = openBlocks({
    ...{ ...deps, store, blocks, mirror, changes },
    ...{ gateway, catalogue, pages, cursors, returnUrl, observeError },
    checkAt: (accountId) => sync.checkAt(accountId),
  });
  const sync: SubscriptionSync = new SubscriptionSync({
    store,
    mirror,
    gateway,
    accountService,
    isPlan: (name) => plans.has(name),
    clock,
    logger,
    furtherSteps: [
      overage.step,
      notifyOwner(deps),
      notifyOfEnd(deps),
      invoiceHistory({ store, mirror, cursors, gateway }),
    ],
    onPaidBack: notifyOfDuplicate(deps),
    observeSync: (outcome) => metrics.billingSyncs.inc({ outcome }),
    observeError,
  });
  const operations = new KeyedOperations(store);
  const schedules = new StripeSchedules(gateway);
  const halfMade = new HalfMadeSchedules({ store, schedules, operations, clock });
  const subscriptions = new Subscriptions({
    store,
    gateway,
    schedules,
    sync,
    catalogue,
    operations,
    pages,
    accounts,
    plans,
    audit: deps.audit,
    clock,
    returnUrl,
  });
  const { autoOverage, blockPurchases } = overage;
  const reconcile = new Reconcile(connection, {
    store,
    events,
    gateway,
    cursors,
    schedules: halfMade,
    clock,
  });
  const blockCheckouts = overage.blockCheckouts(subscriptions);
  const disputes = new Disputes({ store, blocks, gateway, clock });
  const forBlocks = { autoOverage, blockPurchases, blockCheckouts, changes, disputes };
  return { ...kept, selling: { gateway, events, sync, catalogue, subscriptions, reconcile, ...forBlocks } };
}

/** The accounts' state as customers; and the services that change it, where a provider is configured. */
export type Billing = ReturnType<typeof openBilling>;
/** The services of a deployment that sells something. */
export type Selling = NonNullable<Billing['selling']>;

/** A counter that starts at its first event would show no increase for it, and alerts go by increases. */
function countFromZero({ paymentEvents, billingSyncs, billingErrors }: BillingMetrics): void {
  for (const outcome of ['noted', 'ignored', 'refused', 'failed']) paymentEvents.inc({ outcome }, 0);
  for (const outcome of SYNC_OUTCOMES) billingSyncs.inc({ outcome }, 0);
  for (const kind of ERROR_KINDS) billingErrors.inc({ kind }, 0);
}
