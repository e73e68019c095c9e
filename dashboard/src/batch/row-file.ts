import { counted, number } from '../format.ts';

/** One row of a file: its number in the file, the first one being 1, and its values by the name of their column. */
export interface Row {
  readonly number: number;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface RowFile {
  readonly name: string;
  readonly columns: readonly string[];
  /** The first ones, at most as many as were asked for. */
  readonly rows: readonly Row[];
  /** How many rows there are in all. */
  readonly total: number;
}

/** What keeps a file from being read, one sentence for each thing. */
export class FileProblem extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

/** Bytes of a CSV file that are read at a time, so that the page answers meanwhile. */
const PIECE_BYTES = 256 * 1024;
/** JSON is read as a whole, in bytes: more than any plan takes in one request. */
const MOST_JSON_BYTES = 64 * 1024 * 1024;
/** More would be read by nobody. */
export const MOST_PROBLEMS = 10;
const NOT_UTF_8 = '\uFFFD';

/**
 * Reads the rows of a file: CSV, whose first row names the columns; a JSON array of objects; or JSON lines. The fields of
 * objects in JSON are columns with a dot: `customer.name`.
 *
 * @param most rows that are kept; further ones are counted.
 * @throws FileProblem naming the rows and columns that are wrong.
 */
export async function readRows(file: File, most: number): Promise<RowFile> {
  const isJson = /\.(json|jsonl|ndjson)$/i.test(file.name);
  const found = isJson ? await readJson(file, most) : await readCsv(file, most);
  if (found.total === 0) throw new FileProblem([`${file.name} has no rows.`]);
  return { name: file.name, ...found };
}

async function readCsv(file: File, most: number): Promise<Omit<RowFile, 'name'>> {
  const { default: Papa } = await import('papaparse');
  const problems = new Problems();
  const rows: Row[] = [];
  let columns: readonly string[] | undefined;
  let [read, total] = [0, 0];
  const take = (cells: readonly string[]) => {
    read += 1;
    // As an empty line, or a row of a table without a text.
    if (cells.every((cell) => cell.trim() === '')) return;
    if (columns === undefined) {
      columns = cells.map((cell) => cell.replace(/^\uFEFF/, '').trim());
      for (const problem of headProblems(columns)) problems.add(problem);
      return;
    }
    total += 1;
    if (total > most) return;
    if (cells.length !== columns.length)
      problems.add(
        `Row ${read} has ${counted(cells.length, 'cell')}, the first row has ${number(columns.length)}.`,
      );
    const unread = cells.findIndex((cell) => cell.includes(NOT_UTF_8));
    if (unread >= 0)
      problems.add(
        `Row ${read}, column ${columns[unread] ?? unread + 1}: the text is not in UTF-8. Save the file as “CSV UTF-8”.`,
      );
    rows.push({ number: read, values: Object.fromEntries(columns.map((name, i) => [name, cells[i] ?? ''])) });
  };
  await new Promise<void>((resolve, reject) => {
    Papa.parse<string[]>(file, {
      chunkSize: PIECE_BYTES,
      chunk({ data, errors }, parser) {
        const before = read;
        for (const cells of data) take(cells);
        for (const { type, message, row } of errors)
          if (type === 'Quotes') problems.add(`Row ${before + (row ?? 0) + 1}: ${message}.`);
        if (problems.isFull) parser.abort();
      },
      complete: () => resolve(),
      error: reject,
    });
  });
  problems.assertNone();
  return { columns: columns ?? [], rows, total };
}

function headProblems(columns: readonly string[]): string[] {
  const unnamed = columns.indexOf('');
  const double = columns.find((name, i) => name !== '' && columns.indexOf(name) !== i);
  return [
    ...(unnamed < 0 ? [] : [`Column ${unnamed + 1} has no name in the first row.`]),
    ...(double === undefined ? [] : [`The first row names the column ${double} twice.`]),
  ];
}

async function readJson(file: File, most: number): Promise<Omit<RowFile, 'name'>> {
  if (file.size > MOST_JSON_BYTES)
    throw new FileProblem([
      `${file.name} has ${number(Math.ceil(file.size / 1024 ** 2))} MiB. JSON is read up to ${number(MOST_JSON_BYTES / 1024 ** 2)} MiB; CSV has no such bound.`,
    ]);
  const text = await file.text();
  const problems = new Problems();
  const values = /\.json$/i.test(file.name) ? parseArray(text, file.name) : parseLines(text, problems);
  const columns = new Set<string>();
  const rows = values.slice(0, most).map((value, index) => {
    const row = { number: index + 1, values: {} as Record<string, unknown> };
    if (!isObject(value)) problems.add(`Row ${row.number} is not an object.`);
    else flatten(value, '', row.values);
    for (const [column, each] of Object.entries(row.values)) {
      columns.add(column);
      if (Number.isInteger(each) && !Number.isSafeInteger(each))
        problems.add(
          `Row ${row.number}, column ${column}: the number has too many digits. Write it as a text, in quotes.`,
        );
    }
    return row;
  });
  problems.assertNone();
  return { columns: [...columns], rows, total: values.length };
}

function parseArray(text: string, name: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new FileProblem([`${name} is not JSON: ${(error as Error).message}.`]);
  }
  if (!Array.isArray(value))
    throw new FileProblem([`${name} must be an array of objects, one for each document.`]);
  return value;
}

function parseLines(text: string, problems: Problems): readonly unknown[] {
  const values: unknown[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      values.push(JSON.parse(line));
    } catch (error) {
      problems.add(`Line ${index + 1} is not JSON: ${(error as Error).message}.`);
    }
  }
  return values;
}

/** Fields of objects by their path; lists stay as they are. */
function flatten(
  value: Readonly<Record<string, unknown>>,
  path: string,
  into: Record<string, unknown>,
): void {
  for (const [name, each] of Object.entries(value))
    if (isObject(each)) flatten(each, `${path}${name}.`, into);
    else into[`${path}${name}`] = each;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first things that are wrong. */
export class Problems {
  readonly #found: string[] = [];

  add(problem: string): void {
    if (!this.isFull) this.#found.push(problem);
  }

  get isFull(): boolean {
    return this.#found.length >= MOST_PROBLEMS;
  }

  /** @throws FileProblem */
  assertNone(): void {
    if (this.#found.length > 0) throw new FileProblem(this.#found);
  }
}
