import { createHash } from 'node:crypto';
import type { Part, PartCall } from './merge-main.ts';
import { commonConformance, declarationOf } from './merged-conformance.ts';

/** A document that is to be merged with others. */
export interface MergeSource {
  readonly title: string;
  /** Its size in bytes. */
  readonly bytes: number;
  readonly read: () => Promise<Uint8Array>;
}

interface MergeTools {
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
  readonly outline: Part['outline'];
  readonly structure: Part['structure'];
  readonly form: Part['form'];
  readonly marked: boolean;
  readonly lang: string | undefined;
  readonly conformance: Part['conformance'];
}

const CATALOG = 1;
const ROOT = 2;
const OUTLINE = 3;
const STRUCTURE = 4;
/** The element that has those of all documents below it. */
const ELEMENT = 5;
/** What the document conforms to, and what its colours mean. */
const PACKET = 6;
const PROFILE = 7;
/** The fields of all documents. */
const FORM = 8;
const FIRST_BRANCH = 9;
/** Digits of the number of a document, before the ids of its elements. */
const ID_DIGITS = 6;
/**
 * Documents below one branch of the page tree. With some thousands of documents, the root has about as many branches.
 */
const FAN_OUT = 64;
const MAX_BYTES = 9_999_999_999;
const ENTRIES_AT_ONCE = 1000;

/**
 * One PDF of all documents in their order, written from front to back. Each has a bookmark with its own bookmarks below,
 * and an element of the structure with its own elements below. Memory holds one document, the offset of each object, and a
 * few numbers per document.
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
  let firstKey = 0;
  const placed: Placed[] = [];
  yield file.text('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n');
  for (const source of sources) {
    const node = next;
    const firstObject = node + 2;
    const idPrefix = `${String(placed.length + 1).padStart(ID_DIGITS, '0')}-`;
    const numbers = { firstObject, parent: node, bookmark: node + 1 };
    const structureTarget = { parent: ELEMENT, firstKey, idPrefix };
    const call = { ...numbers, structure: structureTarget, document: placed.length + 1 };
    const { objects, ...part } = yield* partOf(source, call, file, tools);
    const { pages, outline, structure, form, marked, lang, conformance } = part;
    next = firstObject + objects;
    firstKey += structure?.keys ?? 0;
    const branch = FIRST_BRANCH + Math.floor(placed.length / FAN_OUT);
    yield file.object(
      node,
      `<</Type/Pages/Parent ${branch} 0 R/Count ${pages.length}/Kids[${refs(pages)}]>>`,
    );
    const firstPage = pages[0] ?? node;
    const { title } = source;
    placed.push({
      title,
      node,
      pages: pages.length,
      firstPage,
      outline,
      structure,
      form,
      marked,
      lang,
      conformance,
    });
  }
  yield* pageTree(file, placed, branches);
  yield* outlines(file, placed);
  yield* structureTree(file, placed, firstKey);
  yield form(file, placed);
  const conforms = commonConformance(placed.map(({ conformance }) => conformance));
  const declaration = conforms && declarationOf(conforms, titleOf(placed));
  yield file.object(PACKET, declaration?.packet ?? 'null');
  yield file.object(PROFILE, declaration?.profile ?? 'null');
  const more = `${accessibility(placed, conforms !== undefined)}${declaration?.catalog(PACKET, PROFILE) ?? ''}`;
  yield file.object(
    CATALOG,
    `<</Type/Catalog/Pages ${ROOT} 0 R/Outlines ${OUTLINE} 0 R/PageMode/UseOutlines${more}>>`,
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
): AsyncGenerator<Buffer, Omit<Part, 'bytes' | 'offsets'> & { readonly objects: number }> {
  const release = hold(size);
  try {
    const { bytes, offsets, ...part } = await renumber({ pdf: await read(), ...numbers });
    yield file.objects(bytes, numbers.firstObject, offsets);
    return { objects: offsets.length, ...part };
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

function* outlines(file: Objects, placed: readonly Placed[]): Generator<Buffer> {
  for (const [i, { title, node, firstPage, outline }] of placed.entries()) {
    const before = placed[i - 1];
    const after = placed[i + 1];
    const siblings = `${before ? `/Prev ${before.node + 1} 0 R` : ''}${after ? `/Next ${after.node + 1} 0 R` : ''}`;
    // Closed: with the headings of all documents the list of documents could not be seen.
    const kids = outline ? `/First ${outline.first} 0 R/Last ${outline.last} 0 R/Count -${outline.seen}` : '';
    const fields = `/Title ${textString(title)}/Parent ${OUTLINE} 0 R${siblings}${kids}/Dest[${firstPage} 0 R/Fit]`;
    yield file.object(node + 1, `<<${fields}>>`);
  }
  const ends = `/First ${placed[0]!.node + 1} 0 R/Last ${placed.at(-1)!.node + 1} 0 R`;
  yield file.object(OUTLINE, `<</Type/Outlines${ends}/Count ${placed.length}>>`);
}

/**
 * The structure of all documents that have one. A leaf of the trees of parents and of ids has the limits of its entries,
 * so that the root needs the numbers of the leaves alone.
 *
 * @param nextKey of the tree of parents.
 */
function* structureTree(file: Objects, placed: readonly Placed[], nextKey: number): Generator<Buffer> {
  const structures = placed.flatMap(({ structure }) => structure ?? []);
  if (structures.length === 0) {
    for (const number of [STRUCTURE, ELEMENT]) yield file.object(number, 'null');
    return;
  }
  const parents = refs(structures.flatMap((each) => each.parents ?? []));
  const ids = refs(structures.flatMap((each) => each.ids ?? []));
  const idTree = ids === '' ? '' : `/IDTree<</Kids[${ids}]>>`;
  yield file.object(
    STRUCTURE,
    `<</Type/StructTreeRoot/K ${ELEMENT} 0 R/ParentTree<</Kids[${parents}]>>/ParentTreeNextKey ${nextKey}${idTree}>>`,
  );
  const kids = refs(structures.map(({ element }) => element));
  yield file.object(ELEMENT, `<</Type/StructElem/S/Document/P ${STRUCTURE} 0 R/K[${kids}]>>`);
}

/** The fields of all documents that have some. Those of Platen share the name of their font, which is the same one. */
function form(file: Objects, placed: readonly Placed[]): Buffer {
  const forms = placed.flatMap((each) => each.form ?? []);
  if (forms.length === 0) return file.object(FORM, 'null');
  const resources = forms.find((each) => each.resources !== undefined)?.resources;
  const shared = resources === undefined ? '' : `/DR ${resources} 0 R`;
  return file.object(FORM, `<</Fields[${refs(forms.map(({ field }) => field))}]${shared}>>`);
}

/** The title of the first, and how many others there are. */
function titleOf([first, ...others]: readonly Placed[]): string {
  const { title = '' } = first ?? {};
  return others.length === 0 ? title : `${title} (+${others.length})`;
}

/**
 * Fields of the catalog. A document is tagged if all of it is; it has a language if all of it has the same. One that conforms
 * has that of its first part: each part has its own as well, and bookmarks need one.
 */
function accessibility(placed: readonly Placed[], conforms: boolean): string {
  const hasStructure = placed.some(({ structure }) => structure !== undefined);
  const [first] = placed;
  const isOfOneLanguage =
    first?.lang !== undefined && (conforms || placed.every(({ lang }) => lang === first.lang));
  return [
    placed.some(({ form: own }) => own !== undefined) ? `/AcroForm ${FORM} 0 R` : '',
    hasStructure ? `/StructTreeRoot ${STRUCTURE} 0 R` : '',
    placed.every(({ marked }) => marked) ? '/MarkInfo<</Marked true>>' : '',
    isOfOneLanguage ? `/Lang ${textString(first.lang!)}` : '',
  ].join('');
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
    // The same for the same documents, whose files are made anew whenever they are read.
    const hash = createHash('sha256').update(Uint32Array.from(this.#offsets));
    const id = hash.digest('hex').slice(0, 32);
    yield this.text(`xref\n0 ${size}\n0000000000 65535 f \n`);
    for (let from = 1; from < size; from += ENTRIES_AT_ONCE) {
      const some = this.#offsets.slice(from, Math.min(size, from + ENTRIES_AT_ONCE));
      yield this.text(some.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join(''));
    }
    yield this.text(
      `trailer\n<</Size ${size}/Root ${CATALOG} 0 R/ID[<${id}><${id}>]>>\nstartxref\n${start}\n%%EOF\n`,
    );
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
