import type { AccountReader } from '../accounts/account-store.ts';
import type { MailOutbox } from '../mail/outbox.ts';
import { decidingInvoices } from './snapshot.ts';
import type { SyncParts, SyncStep } from './sync.ts';

interface TellParts {
  readonly accounts: Pick<AccountReader, 'find'>;
  readonly outbox: Pick<MailOutbox, 'enqueue'>;
}

/** Mails the owner that a renewal is owed. The mail has a name of its own, so looking again sends nothing again. */
export function tellOwner({ accounts, outbox }: TellParts): SyncStep {
  return async ({ _id: accountId }, customer, state) => {
    const { status, subscriptionId, plan, currentPeriod, graceEndsAt } = state;
    const owes = status === 'past_due' && plan !== null && currentPeriod !== null && graceEndsAt !== null;
    if (!owes) return;
    const to = (await accounts.find(accountId))?.email ?? null;
    if (to === null) return;
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
  };
}

/** Mails the owner that a second subscription was paid back; once, however often it is told. */
export function tellOfDuplicate({ accounts, outbox }: TellParts): NonNullable<SyncParts['onPaidBack']> {
  return async ({ _id: accountId }, customer, state, duplicate) => {
    const to = (await accounts.find(accountId))?.email ?? null;
    if (to === null) return;
    const plan = customer.subscriptions.find(({ id }) => id === duplicate)?.plan ?? state.plan ?? '';
    const id = `${duplicate}:duplicate`;
    await outbox.enqueue({ id, accountId, to, kind: 'duplicate-subscription', values: { plan } });
  };
}
