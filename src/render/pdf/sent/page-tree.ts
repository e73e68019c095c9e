import {
  PDFArray,
  PDFDict,
  type PDFDocument,
  type PDFName,
  PDFNumber,
  type PDFObject,
  PDFPageLeaf,
  PDFPageTree,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import { dictAt, KEYS, name, oneOrMore } from '../objects.ts';
import { RefusedPdf } from './refusal.ts';

/** Pages of a PDF that is converted. */
export const MAX_PAGES = 10_000;
/** Levels of a page tree; those of a million pages have seven. */
const MAX_DEPTH = 100;

/** A node that is being walked through, and where its kids go on. */
interface Level {
  readonly ref: PDFRef;
  readonly node: PDFPageTree;
  readonly kids: PDFArray;
  next: number;
  pages: number;
}

/**
 * Makes sure that the page tree of a document is one: no node has two places in it, and each says right what is above it and
 * how many pages are below it (ISO 32000-1, 7.7.3). Whatever goes through the tree after this ends.
 *
 * @throws RefusedPdf.
 */
export function walkPages(document: PDFDocument): void {
  const { context, catalog } = document;
  const seen = new Set<PDFRef>();
  const path: Level[] = [];
  let pages = 0;

  function enter(ref: unknown, parent: PDFRef | undefined): void {
    if (!(ref instanceof PDFRef)) throw broken('a page is no object of its own');
    const called = `object ${ref.objectNumber}`;
    if (seen.has(ref)) throw broken(`its page tree has ${called} in two places`);
    seen.add(ref);
    const found = context.lookup(ref);
    if (!(found instanceof PDFDict)) throw broken(`its page tree leads to ${called}, which is no page`);
    const kids = found.lookup(KEYS.Kids);
    if (kids instanceof PDFArray) {
      if (path.length >= MAX_DEPTH) throw broken('its page tree is too deep');
      const node = typed(ref, found, 'Pages', (map) => PDFPageTree.fromMapWithContext(map, context));
      path.push({ ref, node, kids, next: 0, pages: 0 });
    } else {
      requireContents(found, called);
      typed(ref, found, 'Page', (map) => PDFPageLeaf.fromMapWithContext(map, context, false));
      pages += 1;
      if (pages > MAX_PAGES)
        throw new RefusedPdf(
          'DOCUMENT_LIMIT',
          `The PDF has more than ${MAX_PAGES} pages, and no more are converted: split it.`,
        );
      path.at(-1)!.pages += 1;
    }
    const node = context.lookup(ref) as PDFDict;
    if (parent === undefined) node.delete(name('Parent'));
    else node.set(name('Parent'), parent);
  }

  /** A page without any is empty; one that leads to nothing has lost it. */
  function requireContents(page: PDFDict, called: string): void {
    const all = oneOrMore(document, page.get(KEYS.Contents));
    if (!all.every((each) => context.lookup(each) instanceof PDFStream))
      throw broken(`the content of a page (${called}) is missing`);
  }

  /** pdf-lib knows pages and nodes by their type, which some PDFs do not say. */
  function typed<Node extends PDFPageTree | PDFPageLeaf>(
    ref: PDFRef,
    dict: PDFDict,
    type: string,
    make: (map: Map<PDFName, PDFObject>) => Node,
  ): Node {
    const node = make(new Map(dict.entries()));
    node.set(KEYS.Type, name(type));
    context.assign(ref, node);
    return node;
  }

  const root = catalog.get(name('Pages'));
  if (root === undefined) throw broken('it has no pages');
  if (!(dictAt(context.lookup(root))?.lookup(KEYS.Kids) instanceof PDFArray))
    throw broken('it has no page tree');
  enter(root, undefined);
  for (let level = path.at(-1); level !== undefined; level = path.at(-1)) {
    if (level.next < level.kids.size()) {
      level.next += 1;
      enter(level.kids.get(level.next - 1), level.ref);
      continue;
    }
    path.pop();
    level.node.set(name('Count'), PDFNumber.of(level.pages));
    const above = path.at(-1);
    if (above !== undefined) above.pages += level.pages;
  }
  if (pages === 0) throw broken('it has no pages');
}

function broken(why: string): RefusedPdf {
  return new RefusedPdf('PDF_INVALID', `The PDF cannot be read: ${why}.`);
}
