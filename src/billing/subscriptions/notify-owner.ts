import { emailOf } from '../../tenants/accounts/addresses.ts';
import type { Tenants } from '../../tenants/open-tenants.ts';
import { FREE_PLAN } from '../../tenants/plans/plan.ts';
import { type CustomerSnapshot, decidingInvoices } from '../stripe/provider-snapshot.ts';
import type { SyncDeps, SyncStep } from './subscription-sync.ts';

type NotifyDeps = Pick<Tenants, 'accounts' | 'outbox'>;

/** States of a subscription that is not paid and has not ended. */
const OWES: readonly string[] = ['past_due', 'unpaid', 'paused'];

/** Mails the owner that a renewal is owed. The mail has a unique name, so another check sends nothing again. */
export function notifyOwner({ accounts, outbox }: NotifyDeps): SyncStep {
  return async ({ _id: accountId }, customer, state) => {
    const { status, subscriptionId, plan, currentPeriod, graceEndsAt } = state;
    const owes = status === 'past_due' && plan !== null && currentPeriod !== null && graceEndsAt !== null;
    if (!owes) return;
    const to = await emailOf(accounts, accountId);
    if (to === null) return;
    await outbox.enqueue({
      id: `${subscriptionId}:owes:${currentPeriod.start.getTime()}`,
      accountId,
      to,
      kind: 'payment-failed',
      values: { plan, graceEnds: graceEndsAt.toISOString(), payUrl: payUrlOf(customer, subscriptionId) },
    });
  };
}

/**
 * Mails the owner that the plan has fallen back to free. Every check sees that the previous plan has ended until one
 * check is noted; each of them adds the same mail, which is sent once.
 */
export function notifyOfEnd({ accounts, outbox }: NotifyDeps): SyncStep {
  return async ({ _id: accountId, state: before }, customer, state) => {
    if (before === undefined || before.inForce === FREE_PLAN || state.inForce !== FREE_PLAN) return;
    const to = await emailOf(accounts, accountId);
    if (to === null) return;
    const { subscriptionId } = before;
    const ended = customer.subscriptions.find(({ id }) => id === subscriptionId);
    // A subscription that has not ended may be paid and fall due again: that is another mail then.
    const owes = state.subscriptionId === subscriptionId && OWES.includes(state.status);
    const since = owes ? (state.currentPeriod?.start.getTime() ?? 0) : 'over';
    await outbox.enqueue({
      id: `${subscriptionId}:ended:${since}`,
      accountId,
      to,
      kind: 'subscription-ended',
      values: {
        plan: before.inForce === 'keep' ? before.plan : before.inForce,
        because: owes || ended?.endedUnpaid === true ? 'payment' : 'cancellation',
        payUrl: owes ? payUrlOf(customer, subscriptionId) : null,
      },
    });
  };
}

/** Mails the owner that a second subscription was paid back; once, however often the callback runs. */
export function notifyOfDuplicate({ accounts, outbox }: NotifyDeps): NonNullable<SyncDeps['onPaidBack']> {
  return async ({ _id: accountId }, customer, state, duplicate) => {
    const to = await emailOf(accounts, accountId);
    if (to === null) return;
    const plan = customer.subscriptions.find(({ id }) => id === duplicate)?.plan ?? state.plan ?? '';
    const id = `${duplicate}:duplicate`;
    await outbox.enqueue({ id, accountId, to, kind: 'duplicate-subscription', values: { plan } });
  };
}

/** Where an owed invoice of a subscription can be paid. */
function payUrlOf(customer: CustomerSnapshot, subscriptionId: string | null): string | null {
  const open = decidingInvoices(customer).find(
    (invoice) => invoice.subscriptionId === subscriptionId && invoice.status === 'open',
  );
  return open?.hostedInvoiceUrl ?? null;
}
