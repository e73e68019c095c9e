import type { Connection } from 'mongoose';
import type { AccountService } from '../accounts/account-service.ts';
import type { AccountReader } from '../accounts/account-store.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Purchases } from '../jobs/ledger/purchases.ts';
import { UnrecordedChanges } from '../jobs/ledger/unrecorded-changes.ts';
import type { MailOutbox } from '../mail/outbox.ts';
import type { PlanSource } from '../plans/plan-source.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { BillingStore } from './billing-store.ts';
import { Catalogue } from './catalogue.ts';
import { Disputes } from './disputes.ts';
import { HalfMadeSchedules } from './half-made-schedules.ts';
import { HostedPages } from './hosted-pages.ts';
import { invoiceHistory } from './invoice-history.ts';
import { InvoiceMirror } from './invoice-mirror.ts';
import { Operations } from './operations.ts';
import type { AutoOverage } from './overage/auto-overage.ts';
import type { BlockLedger } from './overage/block-ledger.ts';
import { BlockStore } from './overage/block-store.ts';
import { openOverage } from './overage/open-overage.ts';
import type { TopUps } from './overage/top-ups.ts';
import { PaymentEvents } from './payment-events.ts';
import { Readings } from './readings.ts';
import { Reconcile } from './reconcile.ts';
import { StripeGateway } from './stripe-gateway.ts';
import { StripeSchedules } from './stripe-schedules.ts';
import { Subscriptions } from './subscriptions.ts';
import { FAULT_KINDS, type FaultKind, FOLD_OUTCOMES, SubscriptionSync } from './sync.ts';
import { tellOfDuplicate, tellOfEnd, tellOwner } from './tell-owner.ts';

export type BillingConfig = Pick<Config, 'STRIPE_SECRET_KEY' | 'STRIPE_WEBHOOK_SECRET' | 'STRIPE_API_BASE'>;

type BillingMetrics = Pick<Metrics, 'paymentEvents' | 'billingFolds' | 'billingFaults'>;

export interface BillingParts {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Spreads what is tried again; `Math.random`, unless given. */
  readonly random?: () => number;
  readonly logger: Logger;
  readonly metrics: BillingMetrics;
  readonly plans: PlanSource;
  readonly accounts: Pick<AccountReader, 'find'>;
  readonly accountService: Pick<AccountService, 'followSubscription' | 'recordFollowed'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordOnce'>;
  readonly purchases: Purchases;
  readonly outbox: Pick<MailOutbox, 'enqueue'>;
  readonly config: BillingConfig;
  /** What absolute addresses start with; asked for when one is needed. */
  readonly publicUrl: () => string;
}

/** What there is when something is sold. */
export interface Selling {
  readonly gateway: StripeGateway;
  readonly events: PaymentEvents;
  readonly sync: SubscriptionSync;
  readonly catalogue: Catalogue;
  readonly subscriptions: Subscriptions;
  readonly autoOverage: AutoOverage;
  readonly blockLedger: BlockLedger;
  readonly topUps: TopUps;
  readonly reconcile: Reconcile;
  readonly disputes: Disputes;
  /** What has changed of purchases and is not in the audit log yet. */
  readonly changes: UnrecordedChanges;
}

/** What is known of the accounts as customers; and what can be done about it, where a provider is configured. */
export interface Billing {
  readonly store: BillingStore;
  readonly mirror: InvoiceMirror;
  readonly blocks: BlockStore;
  /** What may be bought by itself, and what was. */
  readonly purchases: Purchases;
  readonly selling: Selling | undefined;
}

/** To be made before the connection's indexes are. */
export function openBilling(parts: BillingParts): Billing {
  const { connection, clock, random, logger, metrics, plans, accounts } = parts;
  const { accountService, config, publicUrl } = parts;
  const store = new BillingStore(connection, clock, random);
  const mirror = new InvoiceMirror(connection);
  const blocks = new BlockStore(connection, clock, random);
  const readings = new Readings(connection);
  const changes = new UnrecordedChanges(connection, parts.audit);
  const kept = { store, mirror, blocks, purchases: parts.purchases };
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_API_BASE: apiBase } = config;
  if (secretKey === undefined) return { ...kept, selling: undefined };
  countFromZero(metrics);
  const gateway = new StripeGateway({ secretKey, apiBase });
  const webhookSecret = config.STRIPE_WEBHOOK_SECRET;
  const events = new PaymentEvents({ connection, clock, random, store, gateway, webhookSecret });
  const catalogue = new Catalogue(gateway);
  const returnUrl = () => `${publicUrl()}/dashboard/billing`;
  const pages = new HostedPages({ store, gateway, clock });
  const observeFault = (kind: FaultKind) => metrics.billingFaults.inc({ kind });
  const overage = openOverage({
    ...{ ...parts, store, blocks, mirror, changes },
    ...{ gateway, catalogue, pages, readings, returnUrl, observeFault },
    lookAt: (accountId) => sync.lookAt(accountId),
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
      tellOwner(parts),
      tellOfEnd(parts),
      invoiceHistory({ store, mirror, readings, gateway }),
    ],
    onPaidBack: tellOfDuplicate(parts),
    observeFold: (outcome) => metrics.billingFolds.inc({ outcome }),
    observeFault,
  });
  const operations = new Operations(store);
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
    clock,
    returnUrl,
  });
  const { autoOverage, blockLedger } = overage;
  const reconcile = new Reconcile(connection, {
    store,
    events,
    gateway,
    readings,
    schedules: halfMade,
    clock,
  });
  const topUps = overage.topUps(subscriptions);
  const disputes = new Disputes({ store, blocks, gateway, clock });
  const bought = { autoOverage, blockLedger, topUps, changes, disputes };
  return { ...kept, selling: { gateway, events, sync, catalogue, subscriptions, reconcile, ...bought } };
}

/** Without it the first of a kind would not show as an increase, and alerts go by increases. */
function countFromZero({ paymentEvents, billingFolds, billingFaults }: BillingMetrics): void {
  for (const outcome of ['noted', 'ignored', 'refused', 'failed']) paymentEvents.inc({ outcome }, 0);
  for (const outcome of FOLD_OUTCOMES) billingFolds.inc({ outcome }, 0);
  for (const kind of FAULT_KINDS) billingFaults.inc({ kind }, 0);
}
