import { type PDFDocument, PDFRef } from '@cantoo/pdf-lib';
import type { AccessibilityFault, AccessibilityRule } from '../../report/accessibility.ts';
import { KEYS, name } from '../objects.ts';
import type { StructureElement, StructureTree } from './structure.ts';

/** What is still wrong with a document after its repair, which only its author can mend; with the page, where it is known. */
export function faultsOf(document: PDFDocument, tree: StructureTree): AccessibilityFault[] {
  const pages = new Map(document.getPages().map(({ ref }, i) => [ref, i + 1]));
  const fault = (
    rule: AccessibilityRule,
    message: string,
    element?: StructureElement,
  ): AccessibilityFault => {
    const page = element === undefined ? null : pageOf(element, pages);
    const where = page === null ? '' : ` on page ${page}`;
    return { rule, message: message.replace('{where}', where), selector: null, page, whose: 'document' };
  };
  const found: AccessibilityFault[] = [];
  if (!document.catalog.has(KEYS.Lang))
    found.push(
      fault('language', 'the document does not say its language; give html a lang, such as <html lang="en">'),
    );
  if (!document.getTitle()?.trim())
    found.push(fault('title', 'the document has no title; give it a title element, or metadata.title'));
  let level = 0;
  for (const element of tree.elements) {
    const { dict } = element;
    const type = dict.get(KEYS.S);
    if (type === FIGURE && !dict.has(KEYS.Alt) && !dict.has(ACTUAL_TEXT))
      found.push(
        fault('alternativeText', 'a picture{where} has no text in its place; give it an alt', element),
      );
    const own = Number(/^H([1-6])$/.exec(element.type)?.[1] ?? 0);
    if (own > level + 1)
      found.push(fault('headingOrder', `a heading{where} has level ${own} after level ${level}`, element));
    if (own > 0) level = own;
  }
  return found;
}

const FIGURE = name('Figure');
const ACTUAL_TEXT = name('ActualText');

/** The page of an element, or of the first one in it that has one. */
function pageOf(element: StructureElement, pages: ReadonlyMap<PDFRef, number>): number | null {
  const own = element.dict.get(KEYS.Pg);
  if (own instanceof PDFRef) return pages.get(own) ?? null;
  const [first] = element.children;
  return first === undefined ? null : pageOf(first, pages);
}
