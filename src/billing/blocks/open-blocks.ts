import { emailOf } from '../../tenants/accounts/addresses.ts';
import type { Tenants } from '../../tenants/open-tenants.ts';
import type { PlanSource } from '../../tenants/plans/plan-source.ts';
import { StripeBlocks } from '../stripe/stripe-blocks.ts';
import type { SyncStep } from '../subscriptions/subscription-sync.ts';
import { AutoOverage, type AutoOverageDeps } from './auto-overage.ts';
import { type BlockCheckoutDeps, BlockCheckouts } from './block-checkouts.ts';
import { BlockPurchases, type BlockPurchasesDeps } from './block-purchases.ts';
import { type ReversalDeps, Reversals } from './reversals.ts';

/** What the services that buy blocks are opened on. */
interface BlockDeps
  extends Omit<AutoOverageDeps, 'emailOf'>,
    Omit<BlockPurchasesDeps, 'gateway' | 'buyer'>,
    Omit<BlockCheckoutDeps, 'subscriptions'>,
    Omit<ReversalDeps, 'autoOverage' | 'gateway' | 'store'>,
    Pick<Tenants, 'accounts'> {
  readonly plans: PlanSource;
}

/** The services that buy blocks, automatically and by hand. */
export function openBlocks(deps: BlockDeps) {
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
        email: await emailOf(accounts, accountId),
        quota: plans.plan(account.plan).monthlyRenders,
        quotaWindow: account.quotaWindow ?? null,
      };
    },
  });
  const reversals = new Reversals({ ...deps, blocks, blockLedger, autoOverage, gateway });
  return {
    autoOverage,
    blockPurchases,
    /** Applies a customer's present state to its blocks. */
    step: (async (account, _, state) => {
      await autoOverage.follow(account._id, state);
      await blocks.wake(account._id);
      await reversals.follow(account);
    }) satisfies SyncStep,
    blockCheckouts: (subscriptions: BlockCheckoutDeps['subscriptions']) =>
      new BlockCheckouts({ ...deps, subscriptions }),
  };
}
