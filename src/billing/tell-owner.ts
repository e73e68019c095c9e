import type { AccountReader } from '../accounts/account-store.ts';
import type { MailOutbox } from '../mail/outbox.ts';
import { decidingInvoices } from './snapshot.ts';
import type { SyncStep } from './sync.ts';

/**
 * Mails the owner what they have to know about their subscription: a renewal that is owed, and a second subscription that
 * was ended. Each mail has a name of its own, so looking again sends nothing again.
 */
export function tellOwner({
  accounts,
  outbox,
}: {
  readonly accounts: Pick<AccountReader, 'find'>;
  readonly outbox: Pick<MailOutbox, 'enqueue'>;
}): SyncStep {
  return async ({ _id: accountId }, customer, state) => {
    const { status, subscriptionId, plan, currentPeriod, graceEndsAt, duplicates } = state;
    const owes = status === 'past_due' && plan !== null && currentPeriod !== null && graceEndsAt !== null;
    if (!owes && duplicates.length === 0) return;
    const to = (await accounts.find(accountId))?.email ?? null;
    if (to === null) return;
    if (owes) {
      const open = decidingInvoices(customer).find(
        (invoice) => invoice.subscriptionId === subscriptionId && invoice.status === 'open',
      );
      await outbox.enqueue({
        id: `${subscriptionId}:owes:${currentPeriod.start.getTime()}`,
        accountId,
        to,
        kind: 'payment-failed',
        values: { plan, graceEnds: graceEndsAt.toISOString(), payUrl: open?.hostedInvoiceUrl ?? null },
      });
    }
    for (const duplicate of duplicates) {
      const told = customer.subscriptions.find(({ id }) => id === duplicate)?.plan ?? plan ?? '';
      const values = { plan: told };
      const id = `${duplicate}:duplicate`;
      await outbox.enqueue({ id, accountId, to, kind: 'duplicate-subscription', values });
    }
  };
}
