import { basename, extname } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { PDF_EXTENSION } from '../infra/outputs/media-type.ts';
import { isRawNumber, parseKeepingIntegers, rawNumber } from '../tenants/templates/long-integers.ts';
import { nested } from '../work/batches/source/nested.ts';
import { CommandError } from './command-error.ts';

/** An item of a batch as it is sent. The service validates it. */
interface FileItem {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** An item, and its line in the file. */
export interface PlacedItem {
  readonly line: number;
  readonly item: FileItem;
}

interface BatchFile {
  /** The path as given on the command line. */
  readonly name: string;
  readonly text: string;
  /** The template of items that name no source of their own. */
  readonly templateId: string | undefined;
}

const ITEM_FIELDS = new Set([
  'id',
  'html',
  'url',
  'templateId',
  'templateVersionId',
  'data',
  'strictData',
  'filename',
  'options',
]);
const SOURCES = ['html', 'url', 'templateId', 'data'];

type Row = { readonly [column: string]: unknown };

/**
 * Reads the items of a file. In a CSV file the first row names the columns, and each further row is the data of the
 * template; a dot in a column's name makes a nested object: `customer.name`. In an NDJSON file each line is such data,
 * or a whole item. `id` and `filename` of the data become the item's id and the PDF's name; an item without `id` is
 * named after its line.
 *
 * @throws CommandError naming every invalid line.
 */
export function readBatchFile(file: BatchFile): PlacedItem[] {
  const kind = extname(file.name).toLowerCase();
  const errors: string[] = [];
  const at = (line: number, problem: string) => void errors.push(`${file.name}:${line}: ${problem}`);
  let items: PlacedItem[];
  if (kind === '.csv') items = csvItems(file, at);
  else if (['.ndjson', '.jsonl'].includes(kind)) items = ndjsonItems(file, at);
  else throw new CommandError(`${file.name}: must be a .csv, .ndjson or .jsonl file.`);
  const lines = new Map<string, number>();
  for (const { line, item } of items) {
    const first = lines.get(item.id);
    if (first === undefined) lines.set(item.id, line);
    else at(line, `the id ${JSON.stringify(item.id)} is that of line ${first} as well`);
  }
  if (errors.length > 0) throw new CommandError(errors.join('\n'));
  if (items.length < 2) throw new CommandError(`${file.name}: a batch has at least two items.`);
  return items;
}

type Problem = (line: number, problem: string) => void;

function csvItems(file: BatchFile, at: Problem): PlacedItem[] {
  const { templateId } = file;
  if (templateId === undefined) throw new CommandError('A CSV file needs --template ID.');
  let rows: { record: Record<string, string>; info: { lines: number } }[];
  try {
    rows = parse(file.text, { columns: true, bom: true, info: true, skip_empty_lines: true }) as typeof rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new CommandError(`${file.name}:${Number(error.lines ?? 1)}: ${error.message}`);
  }
  return rows.flatMap(({ record, info }) => {
    const line = info.lines;
    try {
      return [{ line, item: dataItem(nested(record), templateId, line) }];
    } catch (error) {
      at(line, (error as Error).message);
      return [];
    }
  });
}

function ndjsonItems(file: BatchFile, at: Problem): PlacedItem[] {
  return file.text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((text, index) => {
      const line = index + 1;
      if (text.trim() === '') return [];
      try {
        return [{ line, item: lineItem(parseKeepingIntegers(text, rawNumber), file.templateId, line) }];
      } catch (error) {
        at(line, error instanceof SyntaxError ? `not JSON: ${error.message}` : (error as Error).message);
        return [];
      }
    });
}

function lineItem(value: unknown, templateId: string | undefined, line: number): FileItem {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('must be an object');
  const row = value as Row;
  const isItem =
    SOURCES.some((source) => source in row) && Object.keys(row).every((field) => ITEM_FIELDS.has(field));
  if (!isItem) return dataItem(row, templateId, line);
  const id = itemId(row.id, line);
  if (['html', 'url', 'templateId'].some((source) => source in row)) return { ...row, id };
  return { ...row, id, templateId: wanted(templateId) };
}

function dataItem(data: Row, templateId: string | undefined, line: number): FileItem {
  const { id, filename } = data;
  return {
    id: id === '' ? `line-${line}` : itemId(id, line),
    ...(typeof filename === 'string' && filename !== '' && { filename }),
    templateId: wanted(templateId),
    data,
  };
}

function itemId(id: unknown, line: number): string {
  if (isRawNumber(id)) return id.rawJSON;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : `line-${line}`;
}

function wanted(templateId: string | undefined): string {
  if (templateId === undefined) throw new Error('names no html, url or template; --template ID gives one');
  return templateId;
}

/** The name of a file's PDF: `letter.pdf` for `letter.html`. */
export function pdfNameOf(file: string): string {
  return `${basename(file, extname(file))}${PDF_EXTENSION}`;
}
