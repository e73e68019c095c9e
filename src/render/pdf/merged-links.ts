import { PDFArray, PDFDict, type PDFDocument, PDFName, type PDFObject } from '@cantoo/pdf-lib';
import { bytesOf, dictAt, dictsOf, KEYS, leavesOf, name } from './objects.ts';

/** @returns the explicit destination that a destination is or names; undefined where it leads nowhere. */
export type FindDestination = (destination: PDFObject | undefined) => PDFArray | undefined;

/** Finds destinations by the two lists of names that a document may have (ISO 32000-1, 12.3.2.3). */
export function destinationFinder(source: PDFDocument): FindDestination {
  const { catalog, context } = source;
  const pages = new Set<PDFObject>(source.getPages().map(({ ref }) => ref));
  const named = new Map<string, PDFObject>();
  for (const [key, value] of dictAt(catalog, 'Dests')?.entries() ?? []) named.set(key.decodeText(), value);
  const tree = dictAt(catalog, 'Names')?.get(name('Dests'));
  for (const { key, value } of leavesOf(context, tree, 'Names')) {
    const text = bytesOf(key);
    if (text !== undefined) named.set(text, value);
  }
  const explicitAt = (found: PDFObject | undefined): PDFArray | undefined => {
    const value = context.lookup(found);
    const explicit = value instanceof PDFDict ? value.lookup(name('D')) : value;
    const leads = explicit instanceof PDFArray && explicit.size() > 0 && pages.has(explicit.get(0));
    return leads ? explicit : undefined;
  };
  return (destination) => {
    const value = context.lookup(destination);
    const text = value instanceof PDFName ? value.decodeText() : bytesOf(value);
    return explicitAt(text === undefined ? destination : named.get(text));
  };
}

/** The explicit destination of an action within its document. */
export function destinationOfAction(
  action: PDFObject | undefined,
  find: FindDestination,
): PDFArray | undefined {
  if (!(action instanceof PDFDict) || action.lookup(name('S')) !== name('GoTo')) return undefined;
  return find(action.get(name('D')));
}

/** Replaces names of destinations in the links of a page by what they name: two documents may have the same names. */
export function resolveNames(page: PDFDict, find: FindDestination): void {
  for (const annotation of annotationsOf(page)) {
    const destination = name('Dest');
    if (annotation.has(destination)) replace(annotation, destination, find(annotation.get(destination)));
    const does = dictAt(annotation, KEYS.A);
    if (does?.lookup(KEYS.S) === name('GoTo')) {
      const explicit = destinationOfAction(does, find);
      if (explicit === undefined) annotation.delete(KEYS.A);
      else does.set(name('D'), explicit);
    }
  }
}

export function annotationsOf(page: PDFDict): PDFDict[] {
  return dictsOf(page.lookup(KEYS.Annots));
}

function replace(dict: PDFDict, key: PDFName, value: PDFObject | undefined): void {
  if (value === undefined) dict.delete(key);
  else dict.set(key, value);
}
