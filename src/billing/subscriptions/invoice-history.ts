import type { InvoiceMirror } from '../invoices/invoice-mirror.ts';
import { type ListCursors, readOn } from '../stripe/list-cursors.ts';
import type { StripeGateway } from '../stripe/stripe-gateway.ts';
import { invoicesIn } from '../stripe/stripe-lists.ts';
import type { BillingStore } from './billing-store.ts';
import type { SyncStep } from './subscription-sync.ts';

/** Invoices that one pass reads: at most 500 new ones, and at most 500 that earlier passes have left. */
const INVOICES_A_PASS = 500;
/** Unsettled invoices that a pass reads one by one, since its lists did not contain them. */
const SINGLY_A_PASS = 20;

interface InvoiceHistoryDeps {
  readonly store: BillingStore;
  readonly mirror: InvoiceMirror;
  readonly cursors: ListCursors;
  readonly gateway: StripeGateway;
}

/**
 * Copies the invoices older than a customer's newest ones: each once, in passes that follow at once as long as there
 * are more. After that only new invoices are read, and older ones that may still change.
 */
export function invoiceHistory({ store, mirror, cursors, gateway }: InvoiceHistoryDeps): SyncStep {
  /** A draft may be deleted, and an open invoice paid or voided: a list of open invoices shows neither. */
  async function checkSingly(list: string, accountId: string, met: ReadonlySet<string>): Promise<void> {
    const waiting = (await mirror.unsettled(accountId)).filter((id) => !met.has(id)).sort();
    const { lookedAt: checkedAt = '' } = await cursors.find(list);
    const rotated = [...waiting.filter((id) => id > checkedAt), ...waiting.filter((id) => id <= checkedAt)];
    for (const id of rotated.slice(0, SINGLY_A_PASS)) {
      const invoice = await gateway.invoiceIfAny(id);
      if (invoice === undefined) await mirror.removeDraft(id);
      else await mirror.add(accountId, [invoice]);
      await cursors.keepCheckedAt(list, id);
    }
  }

  return async (account, { customerId, invoices, older }) => {
    if (older === undefined) return;
    await mirror.add(account._id, older);
    const list = `invoices:${customerId}`;
    const { items, known, complete } = await readOn(
      await cursors.find(list),
      INVOICES_A_PASS,
      (range, most) => invoicesIn(gateway.stripe, customerId, range, most),
      ({ createdAt }) => createdAt,
    );
    await mirror.add(account._id, items);
    await cursors.keep(list, known);
    await checkSingly(list, account._id, new Set([...invoices, ...older, ...items].map(({ id }) => id)));
    if (!complete) await store.carryOn(account);
  };
}
