import { randomUUID } from 'node:crypto';
import { INVOICE_SORTS } from '../../../src/billing/invoices/invoice-mirror.ts';
import type { InvoiceSnapshot } from '../../../src/billing/stripe/provider-snapshot.ts';
import { syncSubscription } from '../../../src/billing/subscriptions/entitlement.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { signUp } from '../../support/account-client.ts';
import type { TestApi } from '../http/support/api.ts';

/** Everything that is stored of accounts as customers. */
export async function useBilling({ url, tenants, billing, domain }: TestApi): Promise<void> {
  const { store, mirror, selling } = billing;
  const owner = await signUp(url, `${randomUUID()}@example.com`);
  const { id: accountId } = await owner.expect(200, 'GET', '/auth/me');
  for (const path of ['subscription', 'invoices']) await owner.get(`/user/${path}`);
  const opened = await store.open(accountId);
  await store.setCustomer(accountId, opened.generation, 'cus_1');
  await store.findByCustomer('cus_1');
  await store.want('cus_1', 'invoice.paid');
  await store.wantAccount(accountId, 'asked');
  const now = domain.clock.now();
  const deleted = { customerId: 'cus_1', deleted: true, subscriptions: [], invoices: [] };
  const state = syncSubscription(deleted, { now, isPlan: () => true });
  const claim = async () => (await store.claimCustomer((await store.due(1))[0]!))!;
  await store.note(await claim(), state);
  await store.want('cus_1', 'invoice.paid');
  await store.retryLater(await claim());
  await store.want('cus_1', 'invoice.paid');
  const stale = await claim();
  await store.want('cus_1', 'invoice.paid');
  await store.carryOn(stale);
  await store.note(stale, { ...state, checkAgainAt: now });
  const noted = { priceId: 'price_1', openedAt: now };
  const checkout = { ...noted, key: 'key_1', plan: 'starter' };
  await store.notePage((await store.find(accountId))!, 'checkout', checkout);
  await store.notePage((await store.find(accountId))!, 'checkout', { ...checkout, key: 'key_2' });
  await store.keepPage(accountId, 'checkout', { ...checkout, key: 'key_2', sessionId: 'cs', url: 'x' });
  await store.forgetPage(accountId, 'checkout', 'key_2');
  const blockCheckout = { ...noted, key: 'key_3', units: 1000, priceCents: 1000 };
  await store.notePage((await store.find(accountId))!, 'blockCheckout', blockCheckout);
  await store.keepPreview(accountId, { subscriptionId: 'sub_1', priceId: 'price_1', date: 1 });
  const operation = { name: 'cancel', key: 'a', value: 0 };
  await store.beginOperation(accountId, operation);
  await store.beginOperation(accountId, { ...operation, name: 'resume', key: 'b' });
  await store.endOperation(accountId, 'b');
  await store.unlink(await claim());
  await store.after('', 10);
  await store.halfMade(now, 10);
  const subscribed = { plan: 'free', quotaWindow: null, fence: 1 };
  await tenants.accountService.followSubscription(accountId, subscribed, {
    cause: 'asked',
    differs: true,
  });

  const invoice: InvoiceSnapshot = {
    id: 'in_1',
    number: 'A-1',
    status: 'draft',
    currency: 'usd',
    amountDueCents: 1,
    amountPaidCents: 0,
    createdAt: now,
    hostedInvoiceUrl: null,
    pdfUrl: null,
    subscriptionId: null,
    blockId: null,
    subscriptionPeriod: null,
  };
  await mirror.update(accountId, [invoice]);
  await mirror.update(accountId, [{ ...invoice, id: 'in_2' }]);
  await mirror.unsettled(accountId);
  await mirror.removeDraft('in_2');
  const page = { limit: 10, offset: 0 };
  for (const sort of INVOICE_SORTS) {
    await mirror.list(accountId, { ...page, sort });
    await mirror.list(accountId, { ...page, sort, status: 'open', search: 'a-1', from: now, to: now });
  }
  const { blocks, blockLedger } = billing;
  await blocks.add({ _id: 'block', accountId, kind: 'auto', units: 1000, priceCents: 1000 });
  const block = (await blocks.claim((await blocks.due(1))[0]!))!;
  await blocks.change(block, { state: 'paying' });
  await blocks.leave(block, now);
  await blocks.retryLater(block);
  await blocks.keepPage('block', { id: 'cs', url: 'x', expiresAt: now });
  await blocks.wake(accountId);
  await blocks.paidOf(accountId);
  await blocks.move('block', 'paying', 'granted');
  await blocks.counts();
  const settings = { enabled: true, units: 1000, priceCents: 1000, capCents: 1000, cycle: 'a' };
  await blockLedger.set(accountId, settings);
  await blockLedger.begin(accountId, 'b');
  await blockLedger.allow(accountId, true);
  const period = quotaPeriod(now);
  const record = (await blockLedger.find(accountId))!;
  await blockLedger.reserve(record, 'block', { period, limit: 0, count: 1 });
  await blockLedger.beingBought();
  await blockLedger.release(accountId, 'block');
  await blockLedger.grant(accountId, 'block', 1000, now.getTime() + 1000, { period, quota: 1 });
  await blockLedger.left(accountId, period, 2);
  const causes = { taken: { cause: 'refund' }, frozen: 'dispute', returned: 'dispute won' };
  await blockLedger.withdraw(accountId, 'block', { frozen: true, back: 0 }, causes);
  await blockLedger.disable(accountId, 'link');
  await blockLedger.reported(accountId, now.getTime());
  const data = { object: { object: 'refund', charge: 'ch_1' } };
  await selling!.events.note({ id: 'evt_1', type: 'refund.created', data });
  await selling!.events.resolveWaiting();
  await selling!.reconcile.events().catch(() => undefined);
  await selling!.reconcile.customers();
  await selling!.changes.record(accountId);
  await selling!.changes.sweep();
  await blockLedger.expire(accountId);
  await selling!.blockPurchases.expire();
}
