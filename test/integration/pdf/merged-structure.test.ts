import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PDFDict, PDFDocument, PDFHexString, PDFName, PDFNumber, PDFRef, PDFString } from '@cantoo/pdf-lib';
import { createPdfMerger, type PdfMerger } from '../../../src/render/pdf/merge.ts';
import { HUNG_MS } from '../../support/eventually.ts';
import { type Printer, startPrinter } from './printed.ts';

const PYTHON = fileURLToPath(new URL('../../../.cache/pdf-readers/bin/python', import.meta.url));
const SCRIPT = fileURLToPath(new URL('readers/structure.py', import.meta.url));

type Bookmark = [title: string, isClosed: boolean, page: number | null, below: Bookmark[]];
/** Depth, role, language, alternative text, page, and numbers of its content on the page. */
type Element = [number, string, string, string, number | null, number[]];

/** What qpdf finds in a PDF; pages from 0 on. */
interface Structure {
  readonly problems: string[];
  readonly elements: Element[];
  readonly ids: number;
  readonly keys: number;
  readonly outline: Bookmark[];
  /** The page or the address to which each link leads. */
  readonly links: (number | string | null)[];
  readonly lang: string | null;
  readonly marked: boolean;
  readonly pages: number;
}

const html = (lang: string, words: readonly [string, string]) => `<!doctype html><html lang="${lang}">
  <h1 id=top>${words[0]}</h1><p>Text with a <a href="#end">link</a> and <a href="https://${lang}.example/">another</a></p>
  <table><tr><th id=a>A<th>B<tr><td headers=a>1<td>2</table><ul><li>${words[0]}</ul>
  <img alt="${words[1]}" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" width=50>
  <h2 id=end style="break-before: page">${words[1]}</h2><p lang=fr>Bonjour <a href="#top">up</a>`;

/** A document of two pages with bare structure, which `change` completes. */
async function handMade(change: (document: PDFDocument, root: PDFRef) => void): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.addPage([200, 200]);
  document.addPage([200, 200]);
  const { context, catalog } = document;
  const root = context.register(context.obj({ Type: 'StructTreeRoot' }));
  catalog.set(PDFName.of('StructTreeRoot'), root);
  catalog.set(PDFName.of('MarkInfo'), context.obj({ Marked: true }));
  change(document, root);
  return document.save();
}

describe('the structure of merged PDFs', () => {
  let printer: Printer;
  let merger: PdfMerger;
  let folder: string;
  let printed: Record<string, Uint8Array>;
  let read: Record<string, Structure>;

  before(async () => {
    merger = createPdfMerger({ memoryBytes: 4096 * 1024 ** 2 });
    folder = await mkdtemp(join(tmpdir(), 'platen-merged-'));
    printer = await startPrinter();
    const tagged = { tagged: true, outline: true };
    printed = {
      de: await printer.print(html('de', ['Eins', 'Zwei']), tagged),
      en: await printer.print(html('en', ['One', 'Two']), tagged),
      plain: await printer.print(html('de', ['Drei', 'Vier'])),
    };
    read = await readAll(printed);
  });
  after(async () => {
    await printer?.close();
    await merger?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function merged(...pdfs: readonly Uint8Array[]): Promise<Structure> {
    const sources = pdfs.map((pdf, i) => ({ title: `Part ${i}`, bytes: pdf.length, read: async () => pdf }));
    const terms = { account: 'a', signal: new AbortController().signal };
    return (await readAll({ merged: await buffer(merger.merge(sources, terms)) })).merged!;
  }

  async function readAll(pdfs: Readonly<Record<string, Uint8Array>>): Promise<Record<string, Structure>> {
    const own = await mkdtemp(join(folder, 'read-'));
    for (const [name, pdf] of Object.entries(pdfs)) await writeFile(join(own, `${name}.pdf`), pdf);
    const limits = { timeout: HUNG_MS, maxBuffer: 64 * 1024 ** 2 };
    return JSON.parse((await promisify(execFile)(PYTHON, [SCRIPT, own], limits)).stdout);
  }

  /** The elements of parts, one part after the other below one document. */
  function joined(...of: readonly Structure[]): Element[] {
    let pages = 0;
    const all: Element[] = [[0, '/Document', '', '', null, []]];
    for (const part of of) {
      for (const [depth, role, lang, alt, page, content] of part.elements)
        all.push([depth + 1, role, lang, alt, page === null ? null : page + pages, content]);
      pages += part.pages;
    }
    return all;
  }

  function moved(bookmarks: readonly Bookmark[], pages: number): Bookmark[] {
    return bookmarks.map(([title, isClosed, page, below]) => [
      title,
      isClosed,
      page === null ? null : page + pages,
      moved(below, pages),
    ]);
  }

  it('has the elements, bookmarks, links and ids of all parts in their order', async () => {
    const { de, en } = read as { de: Structure; en: Structure };
    assert.ok(de.elements.length > 25 && de.ids > 0 && de.marked && de.outline.length > 0);
    const all = await merged(printed.de!, printed.en!, printed.de!);
    assert.deepEqual(all.problems, []);
    assert.deepEqual(all.elements, joined(de, en, de));
    assert.deepEqual([all.keys, all.ids, all.marked], [2 * de.keys + en.keys, 2 * de.ids + en.ids, true]);
    assert.deepEqual(all.outline, [
      ['Part 0', true, 0, de.outline],
      ['Part 1', true, 2, moved(en.outline, 2)],
      ['Part 2', true, 4, moved(de.outline, 4)],
    ]);
    const links = [
      [1, 'https://de.example/', 0],
      [3, 'https://en.example/', 2],
      [5, 'https://de.example/', 4],
    ];
    assert.deepEqual(all.links, links.flat());
  });

  it('has the language of the parts if it is one, and each part has its own', async () => {
    assert.equal((await merged(printed.de!, printed.de!)).lang, 'de');
    const { lang, elements } = await merged(printed.de!, printed.en!);
    assert.equal(lang, null);
    assert.deepEqual(
      elements.filter(([depth]) => depth === 1).map(([, role, of]) => [role, of]),
      [
        ['/Document', 'de'],
        ['/Document', 'en'],
      ],
    );
  });

  it('is kept of the parts that have one, and none is said to be there where a part has none', async () => {
    const { de, en } = read as { de: Structure; en: Structure };
    const some = await merged(printed.de!, printed.plain!, printed.en!);
    assert.deepEqual([some.problems, some.marked, some.links.length], [[], false, 9]);
    assert.deepEqual(some.elements, joined(de, { ...read.plain!, elements: [] }, en));
    const none = await merged(printed.plain!, printed.plain!);
    assert.deepEqual(
      [none.problems, none.elements, none.marked, none.keys, none.lang],
      [[], [], false, 0, read.plain!.lang],
    );
  });

  it('is that of hundreds of parts', async () => {
    const all = await merged(...Array.from({ length: 200 }, () => printed.en!));
    assert.deepEqual(all.problems, []);
    assert.equal(all.elements.length, 1 + 200 * read.en!.elements.length);
    assert.deepEqual([all.keys, all.ids, all.lang], [200 * read.en!.keys, 200 * read.en!.ids, 'en']);
    assert.deepEqual(all.outline.at(-1), ['Part 199', true, 398, moved(read.en!.outline, 398)]);
  });

  it('has one meaning for each role, also where parts have roles of their own by the same name', async () => {
    const withRole = (role: string) =>
      handMade(({ context }, root) => {
        const fields = { Type: 'StructElem', S: 'Box', P: root, Lang: PDFString.of('it') };
        const tree = context.lookup(root, PDFDict);
        tree.set(PDFName.of('K'), context.register(context.obj(fields)));
        tree.set(PDFName.of('RoleMap'), context.obj({ Box: 'Frame', Frame: role }));
      });
    const { problems, elements } = await merged(await withRole('H1'), await withRole('Figure'));
    assert.deepEqual(problems, []);
    assert.deepEqual(
      elements.map(([depth, role, lang]) => [depth, role, lang]),
      [
        [0, '/Document', ''],
        [1, '/Document', ''],
        [2, '/H1', 'it'],
        [1, '/Document', ''],
        [2, '/Figure', 'it'],
      ],
    );
  });

  it('is found by drawings, by links that stand in their page, and by names of every kind', async () => {
    const pdf = await handMade((document, root) => {
      const { context, catalog } = document;
      const [first, last] = document.getPages().map(({ node, ref }) => ({ node, ref }));
      const element = context.nextRef();
      const form = context.stream('', {
        Type: 'XObject',
        Subtype: 'Form',
        BBox: [0, 0, 1, 1],
        StructParents: 900,
      });
      first!.node.set(PDFName.of('Resources'), context.obj({ XObject: { Fm: context.register(form) } }));
      first!.node.set(PDFName.of('StructParents'), PDFNumber.of(1_000_000_000));
      const links = [
        { Dest: PDFString.of('end') },
        { A: { S: 'GoTo', D: PDFHexString.of('656e64') } },
        { A: { S: 'GoTo', D: PDFString.of('nowhere') } },
        { StructParent: 7, Dest: [first!.ref, 'Fit'] },
      ].map((link) => ({ Type: 'Annot', Subtype: 'Link', Rect: [0, 0, 9, 9], ...link }));
      first!.node.set(PDFName.of('Annots'), context.obj(links));
      const names = [PDFString.of('end'), { D: [last!.ref, 'Fit'] }];
      catalog.set(PDFName.of('Names'), context.obj({ Dests: { Kids: [{ Names: names }] } }));
      context.assign(element, context.obj({ Type: 'StructElem', S: 'P', P: root, Pg: first!.ref, K: [0] }));
      const tree = context.lookup(root, PDFDict);
      tree.set(PDFName.of('K'), context.obj([element]));
      const nums = [7, element, 900, [element], 1_000_000_000, [element]];
      tree.set(PDFName.of('ParentTree'), context.obj({ Kids: [{ Nums: nums }] }));
    });
    const sources = [pdf, pdf].map((each) => ({ title: 'x', bytes: each.length, read: async () => each }));
    const bytes = await buffer(merger.merge(sources, { account: 'a', signal: new AbortController().signal }));
    const text = bytes.toString('latin1');
    assert.deepEqual(
      [...text.matchAll(/\/StructParents? (\d+)/g)].map(([, key]) => Number(key)).toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5],
    );
    const { links } = (await readAll({ merged: bytes })).merged!;
    assert.deepEqual(links, [1, 1, null, 0, 3, 3, null, 2]);
  });

  it('has an end, whatever a part refers to, and however deep it is', async () => {
    const depth = 5000;
    const hostile = await handMade((document, root) => {
      const { context, catalog } = document;
      const refs = Array.from({ length: depth }, () => context.nextRef());
      for (const [i, ref] of refs.entries()) {
        const fields = { Type: 'StructElem', S: 'Div', P: refs[i - 1] ?? root };
        // The last one is above the first one.
        context.assign(ref, context.obj({ ...fields, K: [refs[i + 1] ?? refs[0]!] }));
      }
      const tree = context.lookup(root, PDFDict);
      tree.set(PDFName.of('K'), refs[0]!);
      const node = context.nextRef();
      context.assign(node, context.obj({ Kids: [node], Nums: [0, [refs[0]!, PDFRef.of(999_999), node]] }));
      tree.set(PDFName.of('ParentTree'), node);
      tree.set(PDFName.of('RoleMap'), context.obj({ Div: 'Box', Box: 'Div' }));
      const bookmarks = Array.from({ length: depth }, () => context.nextRef());
      for (const [i, ref] of bookmarks.entries()) {
        const [Next, First] = i % 2 ? [bookmarks[i + 1] ?? bookmarks[0]!, ref] : [ref, bookmarks[i + 1]!];
        context.assign(ref, context.obj({ Title: PDFString.of(`${i}`), Next, First }));
      }
      catalog.set(PDFName.of('Outlines'), context.obj({ First: bookmarks[0]!, Last: bookmarks.at(-1)! }));
    });
    const sources = [hostile, printed.de!].map((pdf) => ({
      title: 'x',
      bytes: pdf.length,
      read: async () => pdf,
    }));
    const bytes = await buffer(merger.merge(sources, { account: 'a', signal: new AbortController().signal }));
    const { context, catalog } = await PDFDocument.load(bytes);
    const objects = context.enumerateIndirectObjects().map(([, object]) => String(object));
    assert.equal(
      objects.filter((text) => text.includes('/S /Div') || text.includes('/S /Box')).length,
      depth,
    );
    assert.ok(objects.some((text) => text.includes(`/Title (${depth - 1})`)));
    assert.ok(catalog.lookup(PDFName.of('StructTreeRoot')));
  });
});
