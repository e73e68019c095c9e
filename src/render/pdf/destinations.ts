import { PDFArray, PDFDict, type PDFDocument, PDFName, PDFRef } from '@cantoo/pdf-lib';

/**
 * The named destinations of a document as Chromium writes them (ISO 32000-1, 12.3.2.3): the page of each, from 1 on.
 */
export function destinationsOf(document: PDFDocument): Record<string, number> {
  const numbers = new Map(document.getPages().map(({ ref }, i) => [ref, i + 1]));
  const named = document.catalog.lookupMaybe(PDFName.of('Dests'), PDFDict);
  const found: [name: string, page: number][] = [];
  for (const [name, value] of named?.entries() ?? []) {
    const destination = document.context.lookup(value);
    const page = destination instanceof PDFArray ? destination.get(0) : undefined;
    const number = page instanceof PDFRef ? numbers.get(page) : undefined;
    if (number !== undefined) found.push([name.decodeText(), number]);
  }
  return Object.fromEntries(found);
}
