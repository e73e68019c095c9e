import { type PDFDict, type PDFDocument, PDFHexString, PDFName, PDFRef } from '@cantoo/pdf-lib';
import { dictAt, KEYS, listOf, name, textOf } from '../objects.ts';
import type { StructureTree } from './structure.ts';

/** By the address or the name that they lead to: the texts of links as they are read. */
export type LinkTexts = Readonly<Record<string, string>>;

/**
 * Says in words what each link is for (ISO 14289-1, 7.18.5): by its text in the document, or by where it leads when it has
 * none.
 */
export function describeLinks(document: PDFDocument, texts: LinkTexts): void {
  for (const { annotation } of linksOf(document)) {
    if (annotation.has(KEYS.Contents)) continue;
    const target = targetOf(annotation);
    const text = (Object.hasOwn(texts, target) && texts[target]) || target || FALLBACK;
    annotation.set(KEYS.Contents, PDFHexString.fromText(text));
  }
}

/**
 * Puts each link into an element that is one (ISO 14289-1, 7.18.5). Those with another role are of another type, those in
 * drawings belong to these, and those in frames to nothing.
 *
 * @returns whether anything was changed, which the tree shows only after another reading.
 */
export function tagLinks(tree: StructureTree): boolean {
  let changed = false;
  for (const { ref, annotation, page } of linksOf(tree.document)) {
    const holder = tree.holderOf(annotation);
    if (holder?.dict.get(KEYS.S) === KEYS.Link) continue;
    changed = true;
    if (holder === undefined) tree.addFor(ref, page, 'Link');
    else if (NO_MEANING.has(holder.type)) holder.dict.set(KEYS.S, KEYS.Link);
    else
      tree.wrapKids(
        holder,
        'Link',
        (kid) => dictAt(tree.document.context.lookup(kid))?.get(KEYS.Obj) === ref,
      );
  }
  return changed;
}

/** Types that may become another one. */
const NO_MEANING = new Set(['NonStruct', 'Span', 'Div']);

function* linksOf(document: PDFDocument) {
  for (const { node, ref: page } of document.getPages()) {
    for (const ref of listOf(node.lookup(KEYS.Annots))) {
      const annotation = dictAt(document.context.lookup(ref));
      if (annotation?.get(KEYS.Subtype) === KEYS.Link && ref instanceof PDFRef)
        yield { ref, annotation, page };
    }
  }
}

/** Of a link whose destination is not known. */
const FALLBACK = '↗';

/** Its address, or the name of its destination after `#`. */
function targetOf(annotation: PDFDict): string {
  const address = textOf(dictAt(annotation, KEYS.A)?.lookup(name('URI')));
  if (address !== undefined) return address;
  const destination = annotation.lookup(name('Dest'));
  return destination instanceof PDFName ? `#${destination.decodeText()}` : '';
}
