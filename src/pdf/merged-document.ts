import type { Part, PartCall } from './merge-main.ts';

/** A document that is to be merged with others. */
export interface MergeSource {
  /** Title of its bookmark. */
  readonly title: string;
  /** Its size in bytes. */
  readonly bytes: number;
  readonly read: () => Promise<Uint8Array>;
}

/** The functions that merging needs. */
interface MergeTools {
  /** Renumbers a document's objects for the merged document. */
  readonly renumber: (call: PartCall) => Promise<Part>;
  /** Reserves memory, in bytes, until the returned function is called. @throws when there is none left. */
  readonly hold: (bytes: number) => () => void;
}

/** A document in the page tree, and its bookmark, whose object number is that of the node plus one. */
interface Placed {
  readonly title: string;
  readonly node: number;
  readonly pages: number;
  readonly firstPage: number;
}

const CATALOG = 1;
const ROOT = 2;
const OUTLINE = 3;
const FIRST_BRANCH = 4;
/**
 * Documents below one branch of the page tree. With some thousands of documents, the root has about as many branches.
 */
const FAN_OUT = 64;
const MAX_BYTES = 9_999_999_999;
const ENTRIES_AT_ONCE = 1000;

/**
 * One PDF of all documents in their order, with a bookmark for each, written from front to back. Memory holds one
 * document, the offset of each object, and a few numbers per document.
 *
 * @param count number of documents.
 */
export async function* mergedDocument(
  sources: Iterable<MergeSource>,
  count: number,
  tools: MergeTools,
): AsyncGenerator<Buffer> {
  const file = new Objects();
  const branches = Math.ceil(count / FAN_OUT);
  let next = FIRST_BRANCH + branches;
  const placed: Placed[] = [];
  yield file.text('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n');
  for (const source of sources) {
    const node = next;
    const firstObject = node + 2;
    const { objects, pages } = yield* partOf(source, { firstObject, parent: node }, file, tools);
    next = firstObject + objects;
    const branch = FIRST_BRANCH + Math.floor(placed.length / FAN_OUT);
    yield file.object(
      node,
      `<</Type/Pages/Parent ${branch} 0 R/Count ${pages.length}/Kids[${refs(pages)}]>>`,
    );
    placed.push({ title: source.title, node, pages: pages.length, firstPage: pages[0] ?? node });
  }
  yield* pageTree(file, placed, branches);
  yield* outline(file, placed);
  yield file.object(
    CATALOG,
    `<</Type/Catalog/Pages ${ROOT} 0 R/Outlines ${OUTLINE} 0 R/PageMode/UseOutlines>>`,
  );
  yield* file.end(next);
}

/**
 * The objects of one document. Memory for the document is reserved from before it is read until its objects have been
 * written.
 */
async function* partOf(
  { bytes: size, read }: MergeSource,
  numbers: Omit<PartCall, 'pdf'>,
  file: Objects,
  { renumber, hold }: MergeTools,
): AsyncGenerator<Buffer, { readonly objects: number; readonly pages: readonly number[] }> {
  const release = hold(size);
  try {
    const { bytes, offsets, pages } = await renumber({ pdf: await read(), ...numbers });
    yield file.objects(bytes, numbers.firstObject, offsets);
    return { objects: offsets.length, pages };
  } finally {
    release();
  }
}

function* pageTree(file: Objects, placed: readonly Placed[], branches: number): Generator<Buffer> {
  const numbers = Array.from({ length: branches }, (_, i) => FIRST_BRANCH + i);
  for (const [i, number] of numbers.entries()) {
    const below = placed.slice(i * FAN_OUT, (i + 1) * FAN_OUT);
    const kids = refs(below.map(({ node }) => node));
    yield file.object(number, `<</Type/Pages/Parent ${ROOT} 0 R/Count ${pagesOf(below)}/Kids[${kids}]>>`);
  }
  yield file.object(ROOT, `<</Type/Pages/Count ${pagesOf(placed)}/Kids[${refs(numbers)}]>>`);
}

function* outline(file: Objects, placed: readonly Placed[]): Generator<Buffer> {
  for (const [i, { title, node, firstPage }] of placed.entries()) {
    const before = placed[i - 1];
    const after = placed[i + 1];
    const siblings = `${before ? `/Prev ${before.node + 1} 0 R` : ''}${after ? `/Next ${after.node + 1} 0 R` : ''}`;
    const fields = `/Title ${textString(title)}/Parent ${OUTLINE} 0 R${siblings}/Dest[${firstPage} 0 R/Fit]`;
    yield file.object(node + 1, `<<${fields}>>`);
  }
  const ends = `/First ${placed[0]!.node + 1} 0 R/Last ${placed.at(-1)!.node + 1} 0 R`;
  yield file.object(OUTLINE, `<</Type/Outlines${ends}/Count ${placed.length}>>`);
}

/** Records the offset of each object, and writes the cross-reference table. */
class Objects {
  #at = 0;
  /** Offsets by object number. */
  readonly #offsets: number[] = [];

  /** @param latin1 text between objects. */
  text(latin1: string): Buffer {
    return this.#passed(Buffer.from(latin1, 'latin1'));
  }

  object(number: number, body: string): Buffer {
    this.#offsets[number] = this.#at;
    return this.text(`${number} 0 obj\n${body}\nendobj\n`);
  }

  objects(bytes: Uint8Array, first: number, offsets: readonly number[]): Buffer {
    for (const [i, offset] of offsets.entries()) this.#offsets[first + i] = this.#at + offset;
    return this.#passed(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  /** @param size largest object number plus one. */
  *end(size: number): Generator<Buffer> {
    const start = this.#at;
    yield this.text(`xref\n0 ${size}\n0000000000 65535 f \n`);
    for (let from = 1; from < size; from += ENTRIES_AT_ONCE) {
      const some = this.#offsets.slice(from, Math.min(size, from + ENTRIES_AT_ONCE));
      yield this.text(some.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join(''));
    }
    yield this.text(`trailer\n<</Size ${size}/Root ${CATALOG} 0 R>>\nstartxref\n${start}\n%%EOF\n`);
  }

  #passed(bytes: Buffer): Buffer {
    this.#at += bytes.length;
    if (this.#at > MAX_BYTES) throw new RangeError('The merged PDF is larger than its table can say.');
    return bytes;
  }
}

function refs(numbers: readonly number[]): string {
  return numbers.map((number) => `${number} 0 R`).join(' ');
}

function pagesOf(placed: readonly Placed[]): number {
  return placed.reduce((sum, { pages }) => sum + pages, 0);
}

/** UTF-16 with a byte order mark, in hexadecimal (ISO 32000-1, 7.9.2.2). */
function textString(text: string): string {
  return `<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`;
}
