import { setImmediate } from 'node:timers/promises';
import { CsvError, type Options, parse } from 'csv-parse/sync';
import { parseKeepingIntegers, rawNumber } from '../../../tenants/templates/long-integers.ts';
import type { Cursor, RowFormat, SourceFormat } from '../readings.ts';
import { nested } from './nested.ts';

/** The longest row, in bytes: a quote that is never closed is found after as many. */
export const MAX_ROW_BYTES = 1024 * 1024;
/** Lines that are no rows, in all. */
const MAX_EMPTY = 1_000_000;
/** Milliseconds of work at a time. */
const TURN_MS = 10;
const MAX_COLUMNS = 500;
const MAX_COLUMN_NAME = 255;
export const DELIMITERS = [',', ';', '\t', '|'] as const;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const NOTHING: Buffer = Buffer.alloc(0);

/** One row of a file, whose bytes end where the next one begins. */
export type Row = {
  /** Counted from 0, without the header. */
  readonly row: number;
  /** Bytes of the file up to its end. */
  readonly end: number;
} & (
  | {
      /** What it says, by column or field: the data of the document, without nesting. */
      readonly fields: Readonly<Record<string, unknown>>;
      /** The data of the document. */
      readonly data: Readonly<Record<string, unknown>>;
    }
  | { readonly fault: string }
);

/** What is wrong with a file as a whole. Its message is for the owner. */
export class SourceFault extends Error {}

/**
 * Reads the rows of a file from a place on, while holding one row and one part of the file in memory. Other work of the
 * process has its turn meanwhile.
 *
 * @throws SourceFault for a file of empty lines.
 */
export async function* rowsOf(
  parts: AsyncIterable<Buffer>,
  { format, delimiter = ',', columns = [] }: RowFormat,
  { offset, row: first }: Cursor,
): AsyncGenerator<Row> {
  let row = first;
  let empty = 0;
  let since = performance.now();
  for await (const { bytes, end, firstLine } of piecesOf(parts, offset, format === 'csv')) {
    const said: Saying | undefined =
      bytes === undefined ? { fault: tooLong() } : sayingOf(bytes, { format, delimiter, columns });
    if (performance.now() - since > TURN_MS) {
      await setImmediate();
      since = performance.now();
    }
    if (said === undefined) {
      empty += 1;
      if (empty > MAX_EMPTY) throw tooEmpty();
      continue;
    }
    // A stray quote hides the ends of the lines after it: the rest is read again, from the second line on.
    const { isBroken = false, ...rest } = { isBroken: false, ...said };
    yield { row, end: isBroken && firstLine ? firstLine.take() : end, ...rest };
    row += 1;
  }
}

/**
 * The format of a file with what its first row says, and the place where its rows begin.
 *
 * @throws SourceFault for a header that names no columns.
 */
export async function headerOf(
  parts: AsyncIterable<Buffer>,
  { format, delimiter }: { readonly format: SourceFormat; readonly delimiter?: string | undefined },
): Promise<{ format: RowFormat; begin: Cursor }> {
  if (format === 'ndjson') return { format: { format }, begin: { offset: 0, row: 0 } };
  for await (const { bytes, end } of piecesOf(parts, 0, true)) {
    const text = bytes && textOf(withoutBom(bytes));
    if (text === undefined) throw new SourceFault('The first row is too long, or is not UTF-8.');
    const used = delimiter ?? likelyDelimiter(text);
    const columns = fieldsOf(text, used);
    if (columns === undefined) continue;
    if (typeof columns === 'string') throw new SourceFault(`The first row names no columns: ${columns}`);
    checkColumns(columns);
    return { format: { format, delimiter: used, columns }, begin: { offset: end, row: 0 } };
  }
  throw new SourceFault('The file is empty.');
}

function checkColumns(columns: readonly string[]): void {
  if (columns.length > MAX_COLUMNS)
    throw new SourceFault(`The first row names ${columns.length} columns; there may be ${MAX_COLUMNS}.`);
  for (const [index, column] of columns.entries()) {
    const name = JSON.stringify(column.slice(0, MAX_COLUMN_NAME));
    if (column === '')
      throw new SourceFault(`The first row names the columns, and column ${index + 1} has no name.`);
    if (column.length > MAX_COLUMN_NAME)
      throw new SourceFault(`The name of column ${index + 1} has more than ${MAX_COLUMN_NAME} characters.`);
    if (columns.indexOf(column) < index) throw new SourceFault(`Two columns have the name ${name}.`);
  }
}

/** The one that the first row has most often outside of quotes. */
function likelyDelimiter(header: string): string {
  const bare = header.replaceAll(/"[^"]*"/g, '');
  const count = (delimiter: string) => bare.split(delimiter).length;
  return DELIMITERS.reduce((best, each) => (count(each) > count(best) ? each : best));
}

type Saying =
  | { readonly fields: Readonly<Record<string, unknown>>; readonly data: Readonly<Record<string, unknown>> }
  | {
      readonly fault: string;
      /** Whether it may be something else than one row. */
      readonly isBroken?: boolean;
    };

/** @returns undefined for an empty line. */
function sayingOf(bytes: Buffer, { format, delimiter, columns }: Required<RowFormat>): Saying | undefined {
  const text = textOf(bytes);
  if (text === undefined) return { fault: 'is not UTF-8' };
  return format === 'csv' ? csvSaying(text, delimiter, columns) : jsonSaying(text.replace(/^\uFEFF/, ''));
}

function csvSaying(text: string, delimiter: string, columns: readonly string[]): Saying | undefined {
  const values = fieldsOf(text, delimiter);
  if (values === undefined) return undefined;
  if (typeof values === 'string') return { fault: values, isBroken: true };
  if (values.length !== columns.length)
    return { fault: `its number of fields is ${values.length}, that of the first row ${columns.length}` };
  const fields = Object.fromEntries(columns.map((column, i) => [column, values[i]]));
  try {
    return { fields, data: nested(fields) };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}

function jsonSaying(text: string): Saying | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value = parseKeepingIntegers(text, rawNumber);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { fault: 'is no JSON object' };
    return { fields: value as Record<string, unknown>, data: value as Record<string, unknown> };
  } catch (error) {
    return { fault: `is not JSON: ${(error as Error).message}` };
  }
}

/** The fields of one row; what is wrong with it as a text; undefined for an empty line. */
function fieldsOf(text: string, delimiter: string): string[] | string | undefined {
  const options: Options = {
    delimiter,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
  };
  try {
    return parse(text, options)[0] as unknown as string[] | undefined;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Without the place in the text, which is one row of many.
    return `is no CSV: ${error.message.split(/[:,] | at line/)[0]}`;
  }
}

interface Piece {
  /** Undefined when the row is too long. */
  readonly bytes: Buffer | undefined;
  readonly end: number;
  /** Of a row that goes over several lines: has the next piece begin with its second line. */
  readonly firstLine?: { take(): number };
}

/**
 * Cuts a file where its rows end: at the ends of lines, in a CSV file at those outside of quotes. RFC 4180 doubles a
 * quote within quotes, so that the end of a line is outside when the number of quotes before it is even.
 */
async function* piecesOf(
  parts: AsyncIterable<Buffer>,
  offset: number,
  quoted: boolean,
): AsyncGenerator<Piece> {
  let held: Buffer = NOTHING;
  /** Of the beginning of `held` in the file. */
  let at = offset;
  let skipping = false;
  let empty = 0;
  const drop = (count: number) => {
    held = held.subarray(count);
    at += count;
  };
  async function* more(): AsyncGenerator<boolean> {
    for await (const part of parts) {
      held = held.length === 0 ? part : Buffer.concat([held, part]);
      yield false;
    }
    yield true;
  }
  for await (const isLast of more()) {
    for (;;) {
      if (skipping) {
        const next = held.indexOf(NEWLINE);
        drop(next === -1 ? held.length : next + 1);
        if (next === -1 && !isLast) break;
        skipping = false;
        yield { bytes: undefined, end: at };
        continue;
      }
      const blank = blankBytes(held);
      if (blank > 0) {
        empty += 1;
        if (empty > MAX_EMPTY) throw tooEmpty();
        drop(blank);
        continue;
      }
      const end = endOf(held, quoted) ?? (isLast && held.length > 0 ? held.length : undefined);
      if (end === undefined && held.length <= MAX_ROW_BYTES) break;
      const lineEnd = held.indexOf(NEWLINE) + 1;
      if (end === undefined || end > MAX_ROW_BYTES) {
        if (lineEnd === 0 || lineEnd > MAX_ROW_BYTES) skipping = true;
        else {
          drop(lineEnd);
          yield { bytes: undefined, end: at };
        }
        continue;
      }
      const bytes = held.subarray(0, end);
      const taken = { count: end };
      const firstLine = {
        take() {
          taken.count = lineEnd;
          return at + lineEnd;
        },
      };
      yield { bytes, end: at + end, ...(quoted && lineEnd > 0 && lineEnd < end && { firstLine }) };
      drop(taken.count);
    }
  }
}

/** Bytes of an empty line at the beginning; 0 if there is none. */
function blankBytes(bytes: Buffer): number {
  if (bytes[0] === NEWLINE) return 1;
  return bytes[0] === RETURN && bytes[1] === NEWLINE ? 2 : 0;
}

/** Bytes up to the end of the first row, with its line break; undefined when that is not among them. */
function endOf(bytes: Buffer, quoted: boolean): number | undefined {
  if (!quoted) {
    const found = bytes.indexOf(NEWLINE);
    return found === -1 ? undefined : found + 1;
  }
  let isWithin = false;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i];
    if (byte === QUOTE) isWithin = !isWithin;
    else if (byte === NEWLINE && !isWithin) return i + 1;
  }
  return undefined;
}

function withoutBom(bytes: Buffer): Buffer {
  return bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes;
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function tooEmpty(): SourceFault {
  return new SourceFault(`The file has more than ${MAX_EMPTY} empty lines.`);
}

function tooLong(): string {
  return `is longer than ${MAX_ROW_BYTES} bytes`;
}
