import type { Clock } from '../../infra/clock.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import { type AccountReader, emailOf } from '../../tenants/accounts/account-store.ts';
import type { AuditLog } from '../../tenants/audit/audit-log.ts';
import type { MailOutbox } from '../../tenants/mail/outbox.ts';
import type { PlanSource } from '../../tenants/plans/plan-source.ts';
import type { BlockLedger } from '../../work/jobs/blocks/block-ledger.ts';
import type { UnrecordedChanges } from '../../work/jobs/blocks/unrecorded-changes.ts';
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
import { BlockCheckouts } from './block-checkouts.ts';
import { BlockPurchases } from './block-purchases.ts';
import type { BlockStore } from './block-store.ts';
import { Reversals } from './reversals.ts';

interface BlockDeps {
  readonly store: BillingStore;
  readonly blocks: BlockStore;
  readonly mirror: Pick<InvoiceMirror, 'add'>;
  readonly blockLedger: BlockLedger;
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

interface BlockServices {
  readonly autoOverage: AutoOverage;
  readonly blockPurchases: BlockPurchases;
  /** Applies a customer's present state to its blocks. */
  readonly step: SyncStep;
  readonly blockCheckouts: (subscriptions: Pick<Subscriptions, 'customerOf'>) => BlockCheckouts;
}

/** The services that buy blocks, automatically and by hand. */
export function openBlocks(deps: BlockDeps): BlockServices {
  const { store, blocks, blockLedger, accounts, plans } = deps;
  const gateway = new StripeBlocks(deps.gateway);
  const autoOverage = new AutoOverage({
    ...deps,
    emailOf: (accountId) => emailOf(accounts, accountId),
  });
  const blockPurchases = new BlockPurchases({
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
  const reversals = new Reversals({ ...deps, blocks, blockLedger, autoOverage, gateway });
  return {
    autoOverage,
    blockPurchases,
    async step(account, _, state) {
      await autoOverage.follow(account._id, state);
      await blocks.wake(account._id);
      await reversals.follow(account);
    },
    blockCheckouts: (subscriptions) => new BlockCheckouts({ ...deps, subscriptions }),
  };
}
