/**
 * The number of pages. Follows the cross-reference table from the end of the file to the page tree's root, which takes
 * microseconds at any size.
 *
 * @returns undefined whenever anything is not exactly as Chromium writes it.
 */
export function pageTreeCount(pdf: Uint8Array): number | undefined {
  // A view, no copy.
  const file = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
  const table = readTable(file);
  if (table === undefined) return undefined;
  const catalog = readObject(file, table, table.root);
  const pages = catalog === undefined ? undefined : referenceIn(catalog, 'Pages');
  const tree = pages === undefined ? undefined : readObject(file, table, pages);
  if (tree === undefined || !/\/Type\s*\/Pages\b/.test(tree)) return undefined;
  const counts = [...tree.matchAll(/\/Count\s+(\d+)\b(?!\s+\d+\s+R)/g)];
  return counts.length === 1 ? Number(counts[0]![1]) : undefined;
}

/** A classic cross-reference table of one section (ISO 32000-1, 7.5.4), as Skia writes it. */
interface Table {
  /** Byte at which the first entry starts. */
  readonly entries: number;
  readonly size: number;
  /** Object number of the catalog. */
  readonly root: number;
}

const ENTRY_BYTES = 20;
/** A page tree's root or a catalog is far shorter. Bytes. */
const MAX_OBJECT_BYTES = 64 * 1024;
/**
 * `startxref` lies within this many bytes of the file's end, and the trailer within as many of the table's last entry.
 */
const TAIL_BYTES = 1024;

function readTable(file: Buffer): Table | undefined {
  const tail = file.toString('latin1', Math.max(0, file.length - TAIL_BYTES));
  const start = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(tail);
  if (start === null) return undefined;
  const offset = Number(start[1]);
  const head = /^xref\r?\n0 (\d+)\r?\n/.exec(file.toString('latin1', offset, offset + 64));
  if (head === null) return undefined;
  const entries = offset + head[0].length;
  const size = Number(head[1]);
  const trailerAt = entries + size * ENTRY_BYTES;
  const trailer = file.toString('latin1', trailerAt, Math.min(file.length, trailerAt + TAIL_BYTES));
  // Earlier sections and encryption are not read here.
  if (!/^\s*trailer\b/.test(trailer) || /\/(Prev|Encrypt|XRefStm)\b/.test(trailer)) return undefined;
  const root = referenceIn(trailer, 'Root');
  return root === undefined ? undefined : { entries, size, root };
}

/** The text of an object that holds no stream. */
function readObject(file: Buffer, table: Table, number: number): string | undefined {
  if (number >= table.size) return undefined;
  const at = table.entries + number * ENTRY_BYTES;
  const entry = /^(\d{10}) \d{5} n/.exec(file.toString('latin1', at, at + ENTRY_BYTES));
  if (entry === null) return undefined;
  const offset = Number(entry[1]);
  const text = file.toString('latin1', offset, Math.min(file.length, offset + MAX_OBJECT_BYTES));
  const end = text.indexOf('endobj');
  return end !== -1 && text.startsWith(`${number} 0 obj`) ? withoutStrings(text.slice(0, end)) : undefined;
}

/**
 * Removes strings, which come from the document (language, title) and may contain text like structure. Takes linear
 * time.
 */
function withoutStrings(text: string): string {
  let kept = '';
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '\\' && depth > 0) at++;
    else if (character === '(') {
      if (depth === 0) kept += text.slice(from, at);
      depth++;
    } else if (character === ')' && depth > 0) {
      depth--;
      from = at + 1;
    }
  }
  return depth === 0 ? kept + text.slice(from) : kept;
}

/** The object number of a reference such as `/Root 7 0 R`; undefined unless there is exactly one of that name. */
function referenceIn(text: string, name: string): number | undefined {
  const found = [...text.matchAll(new RegExp(`/${name}\\s+(\\d+)\\s+0\\s+R\\b`, 'g'))];
  return found.length === 1 ? Number(found[0]![1]) : undefined;
}
