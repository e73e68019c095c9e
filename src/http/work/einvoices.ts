import { PlatenError } from '../../infra/errors/registry.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { ItemSubmission } from '../../work/batches/batch-admission.ts';
import { type EinvoiceDeps, invoiceDataOf, withInvoice } from '../../work/inputs/with-invoice.ts';
import { MAX_ERRORS } from '../request/field-errors.ts';

/** Milliseconds in which the invoices of all items of a batch are checked. */
const BATCH_CHECKS_MS = 120_000;

/**
 * The items of a batch with the XML of their invoices.
 *
 * @param nameOf an item's options in errors.
 * @throws PlatenError EINVOICE_INVALID, naming all that is wrong with all items; INPUT_TOO_LARGE where there are too many.
 */
export async function withInvoices(
  items: readonly ItemSubmission[],
  caller: Pick<Caller, 'accountId'>,
  deps: EinvoiceDeps,
  nameOf: (index: number) => string,
): Promise<ItemSubmission[]> {
  const deadline = performance.now() + BATCH_CHECKS_MS;
  const faults: string[] = [];
  const checked: ItemSubmission[] = [];
  for (const [index, item] of items.entries()) {
    if (item.options.einvoice === undefined) {
      checked.push(item);
      continue;
    }
    if (performance.now() > deadline)
      throw new PlatenError(
        'INPUT_TOO_LARGE',
        'The invoices of this batch take too long to be checked: send fewer at a time.',
      );
    try {
      const options = await withInvoice(
        item.options,
        invoiceDataOf(item.source),
        caller,
        deps,
        nameOf(index),
      );
      checked.push({ ...item, options });
    } catch (error) {
      if (!(error instanceof PlatenError) || error.code !== 'EINVOICE_INVALID') throw error;
      faults.push(...error.details);
      // More errors than are listed need not be looked for.
      if (faults.length > MAX_ERRORS) break;
    }
  }
  if (faults.length > 0)
    throw new PlatenError('EINVOICE_INVALID', faults[0], { details: faults.slice(0, MAX_ERRORS) });
  return checked;
}
