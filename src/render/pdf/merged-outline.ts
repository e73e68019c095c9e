import {
  type PDFContext,
  PDFDict,
  type PDFDocument,
  PDFNumber,
  type PDFObject,
  type PDFObjectCopier,
  PDFRef,
} from '@cantoo/pdf-lib';
import { destinationOfAction, type FindDestination } from './merged-links.ts';
import { dictAt, KEYS, name, numberOf } from './objects.ts';

/** The bookmarks of a document, for below the bookmark of its own in a larger one. Object numbers. */
export interface PartOutline {
  readonly first: number;
  readonly last: number;
  /** Bookmarks that are seen when that one is opened. */
  readonly seen: number;
}

interface Bookmark {
  readonly source: PDFDict;
  readonly dict: PDFDict;
  readonly ref: PDFRef;
  readonly parent: Bookmark | undefined;
  /** Below it, and seen when it is opened. */
  seen: number;
}

interface OutlineTarget {
  readonly context: PDFContext;
  readonly copier: PDFObjectCopier;
  /** The number of the bookmark that they come below. */
  readonly parent: number;
  readonly find: FindDestination;
  /** Where an element of the document's structure is now; undefined for what is none. */
  readonly elementAt: (element: PDFObject | undefined) => PDFRef | undefined;
}

/**
 * Copies the bookmarks of a document whose pages are copied. It follows them one by one: to copy by reference would take
 * a level of calls for each.
 */
export function copyOutline(document: PDFDocument, target: OutlineTarget): PartOutline | undefined {
  const root = dictAt(document.catalog, 'Outlines');
  if (root === undefined) return undefined;
  const { context, parent } = target;
  const all: Bookmark[] = [];
  const met = new Set<PDFDict>([root]);
  const levels: { next: PDFObject | undefined; above: Bookmark | undefined; before?: Bookmark }[] = [
    { next: root.lookup(name('First')), above: undefined },
  ];
  while (levels.length > 0) {
    const level = levels.at(-1)!;
    const { next: source, above, before } = level;
    if (!(source instanceof PDFDict) || met.has(source)) {
      levels.pop();
      continue;
    }
    met.add(source);
    const ref = context.nextRef();
    const bookmark = { source, ref, parent: above, seen: 0, dict: bookmarkOf(source, target) };
    context.assign(ref, bookmark.dict);
    all.push(bookmark);
    bookmark.dict.set(name('Parent'), above?.ref ?? PDFRef.of(parent));
    if (before !== undefined) {
      bookmark.dict.set(name('Prev'), before.ref);
      before.dict.set(name('Next'), ref);
    } else above?.dict.set(name('First'), ref);
    above?.dict.set(name('Last'), ref);
    level.before = bookmark;
    level.next = source.lookup(name('Next'));
    levels.push({ next: source.lookup(name('First')), above: bookmark });
  }
  if (all.length === 0) return undefined;
  const top = all.filter((each) => each.parent === undefined);
  return { first: top[0]!.ref.objectNumber, last: top.at(-1)!.ref.objectNumber, seen: count(all) };
}

/** Counts what is seen below each bookmark. @returns what is seen of all. */
function count(all: readonly Bookmark[]): number {
  let seen = 0;
  for (const bookmark of all.toReversed()) {
    const isOpen = (numberOf(bookmark.source.lookup(name('Count'))) ?? 0) > 0;
    if (bookmark.seen > 0)
      bookmark.dict.set(name('Count'), PDFNumber.of(isOpen ? bookmark.seen : -bookmark.seen));
    const own = 1 + (isOpen ? bookmark.seen : 0);
    if (bookmark.parent === undefined) seen += own;
    else bookmark.parent.seen += own;
  }
  return seen;
}

/** A bookmark without its neighbours. */
function bookmarkOf(source: PDFDict, { context, copier, find, elementAt }: OutlineTarget): PDFDict {
  const dict = PDFDict.withContext(context);
  for (const key of ['Title', 'C', 'F'].map(name)) {
    const value = source.lookup(key);
    if (value !== undefined) dict.set(key, copier.copy(value));
  }
  const action = dictAt(source, KEYS.A);
  const destination = find(source.get(name('Dest'))) ?? destinationOfAction(action, find);
  if (destination !== undefined) dict.set(name('Dest'), copier.copy(destination));
  else if (action?.lookup(KEYS.S) === name('URI')) dict.set(KEYS.A, copier.copy(action));
  const element = elementAt(source.get(name('SE')));
  if (element !== undefined) dict.set(name('SE'), element);
  return dict;
}
