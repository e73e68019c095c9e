import type { Schemas } from '../api.ts';
import { Problems, type Row, type RowFile } from './row-file.ts';
import { valueAt } from './template-variables.ts';

export type Item = NonNullable<Schemas['UserBatchRequest']['items']>[number];

/** Which column fills in what; empty for none. */
export interface Mapping {
  readonly id: string;
  readonly filename: string;
  /** By the path of a variable of the template. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A variable has the column of its name, however that is written: `customer.name` is `Customer name` as well. */
export function guessMapping(columns: readonly string[], variables: readonly string[]): Mapping {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  const columnOf = (name: string) =>
    columns.find((column) => column === name) ??
    columns.find((column) => plain(column) === plain(name)) ??
    '';
  return {
    id: columnOf('id'),
    filename: columnOf('filename'),
    variables: Object.fromEntries(variables.map((path) => [path, columnOf(path)])),
  };
}

/**
 * The items of a batch, one for each row. A text becomes what the sample has at its place: a number, true or false, or JSON.
 *
 * @throws FileProblem naming the rows and columns that are wrong.
 */
export function itemsOf(
  { rows }: Pick<RowFile, 'rows'>,
  mapping: Mapping,
  templateId: string,
  sample: unknown,
): Item[] {
  const problems = new Problems();
  const firstRows = new Map<string, number>();
  const items = rows.map((row): Item => {
    const id = nameIn(row, mapping.id) ?? `row-${row.number}`;
    const first = firstRows.get(id);
    if (first === undefined) firstRows.set(id, row.number);
    else
      problems.add(
        `Row ${row.number}, column ${mapping.id}: “${id}” is also in row ${first}. Each must be unique.`,
      );
    const filename = nameIn(row, mapping.filename);
    return { id, templateId, data: dataOf(row, mapping, sample, problems), ...(filename && { filename }) };
  });
  problems.assertNone();
  return items;
}

function nameIn({ values }: Row, column: string): string | undefined {
  const value = values[column];
  return value === undefined || value === null || value === '' ? undefined : String(value);
}

function dataOf(
  row: Row,
  { variables }: Mapping,
  sample: unknown,
  problems: Problems,
): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const [path, column] of Object.entries(variables)) {
    if (column === '' || !Object.hasOwn(row.values, column)) continue;
    const value = asInSample(row.values[column], valueAt(sample, path));
    if (value instanceof Error) problems.add(`Row ${row.number}, column ${column}: ${value.message}`);
    else put(data, path.split('.'), value);
  }
  return data;
}

/** A value as the sample has it. Values that are no texts, of JSON, stay as they are. */
function asInSample(value: unknown, sample: unknown): unknown {
  if (typeof value !== 'string' || sample === undefined || sample === null || typeof sample === 'string')
    return value;
  const text = value.trim();
  const wanted = Array.isArray(sample)
    ? 'a list in JSON'
    : typeof sample === 'object'
      ? 'an object in JSON'
      : typeof sample === 'boolean'
        ? 'true or false'
        : 'a number';
  const wrong = new Error(`“${text.slice(0, 40)}” is not ${wanted}, as in the sample data.`);
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === typeof sample && Array.isArray(parsed) === Array.isArray(sample)
      ? parsed
      : wrong;
  } catch {
    return wrong;
  }
}

function put(data: Record<string, unknown>, [name, ...further]: string[], value: unknown): void {
  const own = (given: unknown) => Object.defineProperty(data, name!, { value: given, ...PLAIN });
  if (further.length === 0) own(value);
  else {
    if (!Object.hasOwn(data, name!)) own({});
    put(data[name!] as Record<string, unknown>, further, value);
  }
}

/** As an assignment does, for any name: `__proto__` is one as well. */
const PLAIN = { enumerable: true, configurable: true, writable: true };

/** The fields of a line that have the item's id and its data: the template sees nothing but the latter. */
export const LINE_FIELDS = { idColumn: 'id', dataField: 'data' } as const;

/** Items as a file, one to a line: what is too much for one request. */
export function fileOf(items: readonly Item[]): Blob {
  const lines = items.map(({ id, filename, data }) => JSON.stringify({ id, filename, data }));
  return new Blob([lines.join('\n')], { type: 'application/x-ndjson' });
}

/** What the service says of an item, with the row and the column that it comes from. */
export function inFile(problem: string, rows: readonly Row[], { id, filename, variables }: Mapping): string {
  const match = /^items\[(\d{1,6})\](?: \(".*?"\))?\.?([^:\s]*):? ?(.*)$/s.exec(problem);
  const row = match === null ? undefined : rows[Number(match[1])];
  if (match === null || row === undefined) return problem;
  const [, , field = '', said = ''] = match;
  const columns: Readonly<Record<string, string>> = { id, filename, ...prefixed(variables) };
  const column = columns[field] ?? '';
  const place = column !== '' ? `, column ${column}` : field === '' ? '' : `, ${field}`;
  return `Row ${row.number}${place}: ${said}`;
}

function prefixed(variables: Mapping['variables']): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([path, column]) => [`data.${path}`, column]));
}
