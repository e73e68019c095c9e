import type { BillingStore } from './billing-store.ts';
import type { InvoiceMirror } from './invoice-mirror.ts';
import { type Readings, readOn } from './readings.ts';
import type { StripeGateway } from './stripe-gateway.ts';
import { invoicesIn } from './stripe-lists.ts';
import type { SyncStep } from './sync.ts';

/** Invoices that one pass reads: so many new ones, and so many of those that passes before have left. */
const INVOICES_A_PASS = 500;
/** Of those that may still change, and were not met on the way. */
const SINGLY_A_PASS = 20;

export interface InvoiceHistoryParts {
  readonly store: BillingStore;
  readonly mirror: InvoiceMirror;
  readonly readings: Readings;
  readonly gateway: StripeGateway;
}

/**
 * Copies what lies behind a customer's newest invoices: each once, in passes, of which the next follows at once as long as
 * there is more. After that only what has come since is read, and those that were not at their end yet.
 */
export function invoiceHistory({ store, mirror, readings, gateway }: InvoiceHistoryParts): SyncStep {
  /** Drafts are deleted, and what is open is paid or void one day: of those no list of open ones tells any more. */
  async function lookSingly(list: string, accountId: string, met: ReadonlySet<string>): Promise<void> {
    const waiting = (await mirror.unsettled(accountId)).filter((id) => !met.has(id)).sort();
    const { lookedAt = '' } = await readings.find(list);
    const inTurn = [...waiting.filter((id) => id > lookedAt), ...waiting.filter((id) => id <= lookedAt)];
    for (const id of inTurn.slice(0, SINGLY_A_PASS)) {
      const invoice = await gateway.invoiceIfAny(id);
      if (invoice === undefined) await mirror.removeDraft(id);
      else await mirror.add(accountId, [invoice]);
      await readings.keepLookedAt(list, id);
    }
  }

  return async (account, { customerId, invoices, older }) => {
    if (older === undefined) return;
    await mirror.add(account._id, older);
    const list = `invoices:${customerId}`;
    const { items, known, complete } = await readOn(
      await readings.find(list),
      INVOICES_A_PASS,
      (range, most) => invoicesIn(gateway.stripe, customerId, range, most),
      ({ createdAt }) => createdAt,
    );
    await mirror.add(account._id, items);
    await readings.keep(list, known);
    await lookSingly(list, account._id, new Set([...invoices, ...older, ...items].map(({ id }) => id)));
    if (!complete) await store.carryOn(account);
  };
}
