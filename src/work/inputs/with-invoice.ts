import { PlatenError } from '../../infra/errors/registry.ts';
import type { EinvoiceChecker } from '../../render/einvoice/einvoice-checker.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import type { JobSource } from './inputs.ts';

/** Bytes of an invoice as JSON. */
const MAX_DATA_BYTES = 1024 * 1024;
/** Milliseconds in which the invoice of one render is checked. */
const CHECK_MS = 20_000;

export interface EinvoiceDeps {
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
  { accountId }: { readonly accountId: string },
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
