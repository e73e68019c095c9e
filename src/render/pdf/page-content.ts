import { PDFArray, type PDFDocument, PDFName, type PDFPage, type PDFRef } from '@cantoo/pdf-lib';

/** A content stream of the given operators, which several pages may share. */
export function contentStream(document: PDFDocument, operators: string): PDFRef {
  return document.context.register(document.context.stream(operators));
}

/** Puts one content stream before a page's own content, and one after it. */
export function wrapContents(document: PDFDocument, page: PDFPage, before: PDFRef, after: PDFRef): void {
  const key = PDFName.of('Contents');
  const own = page.node.get(key);
  const resolved = document.context.lookup(own);
  const streams = resolved instanceof PDFArray ? resolved.asArray() : own === undefined ? [] : [own];
  page.node.set(key, document.context.obj([before, ...streams, after]));
}

/** Adds a form XObject. Pages may share or inherit resources, so a name must mean the same object on all of them. */
export function addToResources(page: PDFPage, name: PDFName, object: PDFRef): void {
  const { context } = page.doc;
  const key = PDFName.of('XObject');
  let resources = page.node.Resources();
  if (resources === undefined) {
    resources = context.obj({});
    page.node.set(PDFName.of('Resources'), resources);
  }
  const objects = resources.lookup(key);
  if (objects === undefined) resources.set(key, context.obj({ [name.decodeText()]: object }));
  else (objects as typeof resources).set(name, object);
}
