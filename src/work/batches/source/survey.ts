import type { Cursor, Reading, RowFormat } from '../readings.ts';
import { idKeyOf } from './row-item.ts';
import { headerOf, rowsOf, SourceFault } from './rows.ts';

/** Rows that may have the id of another row. More than that are no slips: the column has no ids. */
const MAX_REPEATS = 1000;

interface Survey {
  readonly rows: number;
  readonly format: RowFormat;
  readonly cursor: Cursor;
  readonly repeats: Readonly<Record<string, number>>;
}

/**
 * Reads a file once, before anything of it is rendered: counts its rows, and finds those that share an id.
 *
 * @param read opens the file at a place.
 * @param maxRows of the plan.
 * @throws SourceFault for a file that has no rows, no proper header, or not the columns that were named; for one with
 * more rows, and for one with many rows of the same ids.
 */
export async function surveyOf(
  { order }: Pick<Reading, 'order'>,
  read: (offset: number) => AsyncIterable<Buffer>,
  maxRows: number,
): Promise<Survey> {
  const { format, begin } = await headerOf(read(0), order);
  for (const column of [order.idColumn, order.uploadUrlColumn]) {
    if (column === undefined || (format.columns?.includes(column) ?? true)) continue;
    throw new SourceFault(`The first row names no column ${JSON.stringify(column)}.`);
  }
  const firsts = new Map<string, number>();
  const repeats: Record<string, number> = {};
  let rows = 0;
  let repeated = 0;
  for await (const row of rowsOf(read(begin.offset), format, begin)) {
    rows += 1;
    if (rows > maxRows)
      throw new SourceFault(`The file has more than ${maxRows} rows, which the plan allows.`);
    const key = idKeyOf(row, order);
    const first = key === undefined ? undefined : firsts.get(key);
    if (first === undefined) {
      if (key !== undefined) firsts.set(key, row.row);
      continue;
    }
    repeats[row.row] = first;
    repeated += 1;
    if (repeated > MAX_REPEATS)
      throw new SourceFault(
        `More than ${MAX_REPEATS} rows have the id of another row, row ${row.row + 1} that of row ${first + 1}: name another column by idColumn.`,
      );
  }
  if (rows === 0) throw new SourceFault('The file has no rows.');
  return { rows, format, cursor: begin, repeats };
}
