import { PDFArray, PDFDict, type PDFDocument, PDFHexString, PDFName, PDFString } from '@cantoo/pdf-lib';
import { KEYS } from './keys.ts';

/** By the address or the name that they lead to: the texts of links as they are read. */
export type LinkTexts = Readonly<Record<string, string>>;

/**
 * Says in words what each link is for (ISO 14289-1, 7.18.5): by its text in the document, or by where it leads when it has
 * none.
 */
export function describeLinks(document: PDFDocument, texts: LinkTexts): void {
  for (const { node } of document.getPages()) {
    const annotations = node.lookup(KEYS.Annots);
    if (!(annotations instanceof PDFArray)) continue;
    for (const reference of annotations.asArray()) {
      const annotation = document.context.lookup(reference);
      if (!(annotation instanceof PDFDict) || annotation.get(KEYS.Subtype) !== KEYS.Link) continue;
      if (annotation.has(KEYS.Contents)) continue;
      const target = targetOf(annotation);
      const text = (Object.hasOwn(texts, target) && texts[target]) || target || FALLBACK;
      annotation.set(KEYS.Contents, PDFHexString.fromText(text));
    }
  }
}

/** Of a link whose destination is not known. */
const FALLBACK = '↗';

/** Its address, or the name of its destination after `#`. */
function targetOf(annotation: PDFDict): string {
  const action = annotation.lookup(PDFName.of('A'));
  const address = action instanceof PDFDict ? action.lookup(PDFName.of('URI')) : undefined;
  if (address instanceof PDFString || address instanceof PDFHexString) return address.decodeText();
  const destination = annotation.lookup(PDFName.of('Dest'));
  return destination instanceof PDFName ? `#${destination.decodeText()}` : '';
}
