import type { Clock } from '../infra/clock.ts';
import type { Billing } from './open-billing.ts';
import type { BillingAccount } from './subscriptions/billing-store.ts';

/** Statuses of subscriptions that cost nothing any more, or never began. */
const ENDED: ReadonlySet<string> = new Set(['none', 'canceled', 'incomplete_expired']);

/**
 * Why an account cannot be deleted while it is as it is at the payment provider: payments would go on, or come in,
 * without an account. The provider keeps the customer and the invoices.
 *
 * @returns undefined when nothing hinders it.
 */
export async function deletionHindrance(
  { store, mirror, blocks }: Pick<Billing, 'store' | 'mirror' | 'blocks'>,
  accountId: string,
  clock: Clock,
): Promise<string | undefined> {
  const account = await store.find(accountId);
  if (account === undefined) return undefined;
  const { state } = account;
  if (state !== undefined && !ENDED.has(state.status))
    return `its subscription is ${state.status}: cancel it at the payment provider first, at once and not at the end of its period`;
  if (account.operation !== undefined && account.operation.at > minutesAgo(clock, 5))
    return 'a change of its subscription is under way: try again in a few minutes';
  const open = openPage(account, clock);
  if (open !== undefined) return `a page for a payment is open until ${open.toISOString()}`;
  if (await blocks.hasUnsettled(accountId)) return 'a purchase or a dispute of it is not settled yet';
  if (await hasOpenInvoice(mirror, accountId))
    return 'it has an open invoice: have it paid or void it at the payment provider first';
  return undefined;
}

async function hasOpenInvoice(mirror: Billing['mirror'], accountId: string): Promise<boolean> {
  const { total } = await mirror.list(accountId, {
    status: 'open',
    sort: 'created_desc',
    limit: 1,
    offset: 0,
  });
  return total > 0;
}

function openPage({ checkout, blockCheckout }: BillingAccount, clock: Clock): Date | undefined {
  // A page whose response was lost has no known end; the provider ends every page within a day.
  const ends = [checkout, blockCheckout].flatMap((page) =>
    page === undefined ? [] : [page.expiresAt ?? new Date(page.openedAt.getTime() + 24 * 3_600_000)],
  );
  return ends.find((end) => end > clock.now());
}

function minutesAgo(clock: Clock, minutes: number): Date {
  return new Date(clock.now().getTime() - minutes * 60_000);
}
