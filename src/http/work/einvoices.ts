import { PlatenError } from '../../infra/errors/registry.ts';
import type { EinvoiceChecker } from '../../render/einvoice/einvoice-checker.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { ItemSubmission } from '../../work/batches/batch-admission.ts';
import type { JobSource } from '../../work/inputs/inputs.ts';
import { MAX_ERRORS } from '../request/field-errors.ts';

/** Bytes of an invoice as JSON. */
const MAX_DATA_BYTES = 1024 * 1024;
/** Milliseconds in which the invoice of one render is checked, and those of all items of a batch. */
const CHECK_MS = 20_000;
const BATCH_CHECKS_MS = 120_000;

interface EinvoiceDeps {
  readonly einvoices: Pick<EinvoiceChecker, 'xmlOf'>;
}

/**
 * The options with the XML of their invoice, which has been checked; unchanged without an invoice.
 *
 * @param data the invoice where the options have none: the data of a template.
 * @param path of the options in the body, for errors.
 * @throws PlatenError EINVOICE_INVALID; VALIDATION where there is no invoice; UNAVAILABLE.
 */
export async function withInvoice(
  options: RenderOptions,
  data: object | undefined,
  { accountId }: Pick<Caller, 'accountId'>,
  { einvoices }: EinvoiceDeps,
  path = 'options',
): Promise<RenderOptions> {
  const { einvoice } = options;
  if (einvoice === undefined) return options;
  const { profile, documentType, xml } = einvoice;
  const given = xml === undefined ? jsonOf(einvoice.data ?? data, `${path}.einvoice`) : undefined;
  const terms = { account: accountId, withinMs: CHECK_MS };
  const written = await einvoices
    .xmlOf({ profile, documentType, xml, data: given }, terms)
    .catch((error: unknown) => {
      throw error instanceof PlatenError && error.code === 'EINVOICE_INVALID'
        ? at(`${path}.einvoice`, error)
        : error;
    });
  return { ...options, einvoice: { profile, xml: written, ...(documentType && { documentType }) } };
}

/** The data of a source that fills in a template, which may be an invoice. */
export function invoiceDataOf(source: JobSource): object | undefined {
  return source.mode === 'template' ? source.data : undefined;
}

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

function jsonOf(data: object | undefined, path: string): string {
  if (data === undefined) {
    const error = `${path}: needs data or xml, since the input is no template whose data could be the invoice`;
    throw new PlatenError('VALIDATION', error, { details: [error] });
  }
  const json = JSON.stringify(data);
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_DATA_BYTES) return json;
  const error = `${path}: the invoice has ${bytes} bytes as JSON, and may have ${MAX_DATA_BYTES}`;
  throw new PlatenError('EINVOICE_INVALID', error, { details: [error] });
}

/** The same error, whose sentences begin with the place of the invoice in the body. */
function at(path: string, error: PlatenError): PlatenError {
  const sentences = error.details.length > 0 ? error.details : [error.message];
  const placed = sentences.map((sentence) => `${path}: ${sentence}`);
  return new PlatenError('EINVOICE_INVALID', placed[0], { details: placed, cause: error.cause });
}
