import {
  PDFArray,
  type PDFContext,
  PDFDict,
  PDFHexString,
  PDFName,
  type PDFObject,
  PDFString,
} from '@cantoo/pdf-lib';

/** The bytes of a string, each as a character; undefined for what is none. */
export function bytesOf(object: PDFObject | undefined): string | undefined {
  if (!(object instanceof PDFString || object instanceof PDFHexString)) return undefined;
  return Buffer.from(object.asBytes()).toString('latin1');
}

/**
 * The entries of a name tree or a number tree (ISO 32000-1, 7.9.6 and 7.9.7), in their order. Nodes that are met again
 * are skipped, so that a tree without end has one.
 */
export function* leavesOf(
  context: PDFContext,
  root: PDFObject | undefined,
  kind: 'Names' | 'Nums',
): Generator<[key: PDFObject | undefined, value: PDFObject]> {
  const met = new Set<PDFObject>();
  const open = [root];
  while (open.length > 0) {
    const node = context.lookup(open.pop());
    if (!(node instanceof PDFDict) || met.has(node)) continue;
    met.add(node);
    const leaves = node.lookup(PDFName.of(kind));
    if (leaves instanceof PDFArray) {
      for (let i = 0; i + 1 < leaves.size(); i += 2) yield [leaves.lookup(i), leaves.get(i + 1)];
    }
    const kids = node.lookup(PDFName.of('Kids'));
    if (!(kids instanceof PDFArray)) continue;
    for (let i = kids.size() - 1; i >= 0; i -= 1) open.push(kids.get(i));
  }
}

/** A dictionary, or those in a list. */
export function dictsOf(given: PDFObject | undefined): PDFDict[] {
  const all =
    given instanceof PDFArray ? Array.from({ length: given.size() }, (_, i) => given.lookup(i)) : [given];
  return all.filter((each) => each instanceof PDFDict);
}
