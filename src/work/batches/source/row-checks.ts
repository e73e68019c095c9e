import { PlatenError } from '../../../infra/errors/registry.ts';
import type { EinvoiceChecker } from '../../../render/einvoice/einvoice-checker.ts';
import type { RenderOptions } from '../../../render/options/all/render-options.ts';
import { withInvoice } from '../../inputs/with-invoice.ts';
import type { Batch } from '../batch.ts';
import type { Reading } from '../readings.ts';
import { itemOfRow, type RowItem } from './row-item.ts';
import type { Row } from './rows.ts';

/** Milliseconds for which the data of a row are compared with the schema of their template. */
const SCHEMA_MS = 2000;

/** By what rows are checked. */
export interface RowChecks {
  /** @throws PlatenError for an address to which nothing may be put. */
  readonly checkUpload: (url: string) => void;
  /** @returns what is wrong with data, by the schema of their template. */
  readonly dataErrors: (
    schema: string,
    data: object,
    terms: { account: string; withinMs: number },
  ) => Promise<readonly string[]>;
  readonly einvoices: Pick<EinvoiceChecker, 'xmlOf'>;
}

interface Context {
  readonly batch: Pick<Batch, '_id' | 'accountId' | 'keepsNothing'>;
  readonly reading: Pick<Reading, 'order' | 'repeats'>;
  readonly options: RenderOptions;
  /** Of the data of each row. */
  readonly schema: string | undefined;
}

/**
 * The items of rows: each fits the schema of the template and has the XML of its invoice, if there are any, or has a fault.
 *
 * @throws PlatenError UNAVAILABLE when it cannot be checked at the moment.
 */
export async function checkedItems(
  rows: readonly Row[],
  { batch, reading, options, schema }: Context,
  checks: RowChecks,
): Promise<RowItem[]> {
  const { accountId } = batch;
  const { order, repeats = {} } = reading;
  const { checkUpload } = checks;
  const found: RowItem[] = [];
  for (const row of rows) {
    const item = itemOfRow(row, {
      ...{ batchId: batch._id, order, repeats, checkUpload },
      needsUpload: batch.keepsNothing === true,
    });
    const name = `Row ${row.row + 1}`;
    try {
      const { data, fault } = item;
      if (data === undefined || fault !== undefined) {
        found.push(item);
        continue;
      }
      const terms = { account: accountId, withinMs: SCHEMA_MS };
      const [error] = schema === undefined ? [] : await checks.dataErrors(schema, data, terms);
      if (error !== undefined) throw new PlatenError('VALIDATION', `${name}: ${error}.`);
      const own = options.einvoice && (await withInvoice(options, data, { accountId }, checks, name));
      found.push(own === undefined ? item : { ...item, options: own });
    } catch (error) {
      if (!(error instanceof PlatenError) || error.code === 'UNAVAILABLE') throw error;
      found.push({ ...item, fault: { code: error.code, message: error.message } });
    }
  }
  return found;
}
