import { createHash } from 'node:crypto';
import { safeFileName } from '../../../infra/outputs/file-name.ts';
import type { RenderOptions } from '../../../render/options/all/render-options.ts';
import { isRawNumber } from '../../../tenants/templates/long-integers.ts';
import { INPUT_FIELDS } from '../../inputs/inputs.ts';
import type { SourceProblem } from '../batch.ts';
import { itemIdSchema } from '../item-id.ts';
import type { SourceOrder } from '../readings.ts';
import type { Row } from './rows.ts';

/** What is rendered of a row, or why it cannot be. */
export interface RowItem {
  readonly id: string;
  readonly fileName: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly uploadUrl?: string;
  /** Those of the batch, with what only this row has. Default: those of the batch. */
  readonly options?: RenderOptions;
  readonly fault?: SourceProblem;
}

/** What the item of a row depends on besides the row. */
export interface RowContext {
  readonly batchId: string;
  readonly order: Pick<SourceOrder, 'idColumn' | 'dataField' | 'uploadUrl' | 'uploadUrlColumn'>;
  /** Rows with the id of an earlier row, each with that row, counted from 0. */
  readonly repeats: Readonly<Record<string, number>>;
  /** @throws PlatenError for an address to which nothing may be put. */
  readonly checkUpload: (url: string) => void;
  /** Whether a row without an address would be rendered for nobody. */
  readonly needsUpload: boolean;
}

const DEFAULT_ID_COLUMN = 'id';

/** The item of a row. Its id is the row's own, if it has one that may be used, or else names the row. */
export function itemOfRow(
  row: Row,
  { batchId, order, repeats, checkUpload, needsUpload }: RowContext,
): RowItem {
  const number = row.row + 1;
  const failed = (problem: string, code: SourceProblem['code'] = 'VALIDATION'): RowItem => {
    const id = `row-${number}`;
    return {
      id,
      fileName: safeFileName(id, id),
      fault: { code, message: `Row ${number}: ${problem}.` },
    };
  };
  if ('fault' in row) return failed(row.fault);
  const { fields } = row;
  const own = ownId(fields, order.idColumn);
  if (own !== undefined && 'problem' in own) return failed(own.problem);
  const first = repeats[row.row];
  if (first !== undefined) return failed(`has the id ${JSON.stringify(own?.id)}, as row ${first + 1} has`);
  const { dataField } = order;
  const given = dataField === undefined ? row.data : fields[dataField];
  if (!isObject(given)) return failed(`has no JSON object in ${JSON.stringify(dataField)}`);
  const data = INPUT_FIELDS.data.safeParse(given);
  if (!data.success) return failed(`its data ${data.error.issues[0]?.message ?? 'cannot be used'}`);
  const id = own?.id ?? `row-${number}`;
  const { filename } = fields;
  const fileName = safeFileName(
    typeof filename === 'string' && filename !== '' ? filename : id,
    `row-${number}`,
  );
  const uploadUrl = uploadUrlOf(fields, order, { batchId, row: String(number), id });
  if (needsUpload && uploadUrl === undefined)
    return failed(`has nothing in ${JSON.stringify(order.uploadUrlColumn)}, and its PDF would not be kept`);
  try {
    if (uploadUrl !== undefined) checkUpload(uploadUrl);
  } catch (error) {
    const { code, message } = error as SourceProblem;
    return failed(message.replace(/\.$/, ''), code);
  }
  return { id, fileName, data: given, ...(uploadUrl !== undefined && { uploadUrl }) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** By what rows are compared: short, whatever the id. Undefined for a row whose id is its number. */
export function idKeyOf(row: Row, { idColumn }: Pick<SourceOrder, 'idColumn'>): string | undefined {
  const own = 'fault' in row ? undefined : ownId(row.fields, idColumn);
  if (own === undefined || 'problem' in own) return undefined;
  return createHash('sha256').update(own.id).digest('base64').slice(0, 14);
}

/** @returns undefined for a row that is named by its number. */
function ownId(
  fields: Readonly<Record<string, unknown>>,
  idColumn: string | undefined,
): { readonly id: string } | { readonly problem: string } | undefined {
  const column = idColumn ?? DEFAULT_ID_COLUMN;
  const value = fields[column];
  const text = isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? String(value) : value;
  if (text === undefined || text === null || text === '')
    return idColumn === undefined ? undefined : { problem: `has nothing in ${JSON.stringify(idColumn)}` };
  const checked = itemIdSchema.safeParse(text);
  if (checked.success) return { id: checked.data };
  return {
    problem: `what it has in ${JSON.stringify(column)} cannot be an id: ${checked.error.issues[0]?.message}`,
  };
}

function uploadUrlOf(
  fields: Readonly<Record<string, unknown>>,
  { uploadUrl, uploadUrlColumn }: RowContext['order'],
  values: Readonly<Record<string, string>>,
): string | undefined {
  if (uploadUrlColumn !== undefined) {
    const given = fields[uploadUrlColumn];
    return typeof given === 'string' && given !== '' ? given : undefined;
  }
  return uploadUrl?.replaceAll(/\{(batchId|row|id)\}/g, (_, name: string) =>
    encodeURIComponent(values[name]!),
  );
}
