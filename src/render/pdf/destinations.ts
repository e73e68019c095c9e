import { type PDFDocument, PDFRef } from '@cantoo/pdf-lib';
import { dictAt, listOf } from './objects.ts';

/**
 * The named destinations of a document as Chromium writes them (ISO 32000-1, 12.3.2.3): the page of each, from 1 on.
 */
export function destinationsOf(document: PDFDocument): Record<string, number> {
  const numbers = new Map(document.getPages().map(({ ref }, i) => [ref, i + 1]));
  const found: [name: string, page: number][] = [];
  for (const [name, value] of dictAt(document.catalog, 'Dests')?.entries() ?? []) {
    const [page] = listOf(document.context.lookup(value));
    const number = page instanceof PDFRef ? numbers.get(page) : undefined;
    if (number !== undefined) found.push([name.decodeText(), number]);
  }
  return Object.fromEntries(found);
}
