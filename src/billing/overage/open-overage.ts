import type { Clock } from '../../infra/clock.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import { type AccountReader, emailOf } from '../../tenants/accounts/account-store.ts';
import type { AuditLog } from '../../tenants/audit/audit-log.ts';
import type { MailOutbox } from '../../tenants/mail/outbox.ts';
import type { PlanSource } from '../../tenants/plans/plan-source.ts';
import type { Purchases } from '../../work/jobs/purchases/purchases.ts';
import type { UnrecordedChanges } from '../../work/jobs/purchases/unrecorded-changes.ts';
import type { InvoiceMirror } from '../invoices/invoice-mirror.ts';
import type { Catalogue } from '../stripe/catalogue.ts';
import type { ListCursors } from '../stripe/list-cursors.ts';
import { StripeBlocks } from '../stripe/stripe-blocks.ts';
import type { StripeGateway } from '../stripe/stripe-gateway.ts';
import type { BillingStore } from '../subscriptions/billing-store.ts';
import type { SubscriptionState } from '../subscriptions/entitlement.ts';
import type { HostedPages } from '../subscriptions/hosted-pages.ts';
import type { Subscriptions } from '../subscriptions/subscription-service.ts';
import type { ErrorKind, SyncStep } from '../subscriptions/subscription-sync.ts';
import { AutoOverage } from './auto-overage.ts';
import type { BlockStore } from './block-store.ts';
import { CreditPurchases } from './credit-purchases.ts';
import { Reversals } from './reversals.ts';
import { TopUps } from './top-ups.ts';

interface OverageDeps {
  readonly store: BillingStore;
  readonly blocks: BlockStore;
  readonly mirror: Pick<InvoiceMirror, 'add'>;
  readonly purchases: Purchases;
  readonly gateway: StripeGateway;
  readonly catalogue: Catalogue;
  readonly pages: HostedPages;
  readonly cursors: ListCursors;
  readonly accounts: Pick<AccountReader, 'find'>;
  readonly plans: PlanSource;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly changes: Pick<UnrecordedChanges, 'record'>;
  readonly outbox: Pick<MailOutbox, 'enqueue'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observeError?: (kind: ErrorKind) => void;
  readonly checkAt: (accountId: string) => Promise<SubscriptionState | undefined>;
  readonly returnUrl: () => string;
}

interface OverageServices {
  readonly autoOverage: AutoOverage;
  readonly creditPurchases: CreditPurchases;
  /** Applies a customer's present state to its blocks. */
  readonly step: SyncStep;
  readonly topUps: (subscriptions: Pick<Subscriptions, 'customerOf'>) => TopUps;
}

/** The services that buy blocks, automatically and by hand. */
export function openOverage(deps: OverageDeps): OverageServices {
  const { store, blocks, purchases, accounts, plans } = deps;
  const gateway = new StripeBlocks(deps.gateway);
  const autoOverage = new AutoOverage({
    ...deps,
    emailOf: (accountId) => emailOf(accounts, accountId),
  });
  const creditPurchases = new CreditPurchases({
    ...deps,
    gateway,
    async buyer(accountId) {
      const [account, customer] = await Promise.all([accounts.find(accountId), store.find(accountId)]);
      if (account === undefined) return undefined;
      return {
        customerId: customer?.customerId,
        email: account.email,
        quota: plans.plan(account.plan).monthlyRenders,
        quotaWindow: account.quotaWindow ?? null,
      };
    },
  });
  const reversals = new Reversals({ ...deps, blocks, purchases, autoOverage, gateway });
  return {
    autoOverage,
    creditPurchases,
    async step(account, _, state) {
      await autoOverage.follow(account._id, state);
      await blocks.wake(account._id);
      await reversals.follow(account);
    },
    topUps: (subscriptions) => new TopUps({ ...deps, subscriptions }),
  };
}
