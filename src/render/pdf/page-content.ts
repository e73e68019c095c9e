import type { PDFDocument, PDFName, PDFPage, PDFRef } from '@cantoo/pdf-lib';
import { KEYS, oneOrMore } from './objects.ts';

/** A content stream of the given operators, which several pages may share. */
export function contentStream(document: PDFDocument, operators: string): PDFRef {
  return document.context.register(document.context.stream(operators));
}

/** Puts one content stream before a page's own content, and one after it. */
export function wrapContents(document: PDFDocument, page: PDFPage, before: PDFRef, after: PDFRef): void {
  const own = oneOrMore(document, page.node.get(KEYS.Contents));
  page.node.set(KEYS.Contents, document.context.obj([before, ...own, after]));
}

/** Adds a form XObject. Pages may share or inherit resources, so a name must mean the same object on all of them. */
export function addToResources(page: PDFPage, name: PDFName, object: PDFRef): void {
  const { context } = page.doc;
  let resources = page.node.Resources();
  if (resources === undefined) {
    resources = context.obj({});
    page.node.set(KEYS.Resources, resources);
  }
  const objects = resources.lookup(KEYS.XObject);
  if (objects === undefined) resources.set(KEYS.XObject, context.obj({ [name.decodeText()]: object }));
  else (objects as typeof resources).set(name, object);
}
