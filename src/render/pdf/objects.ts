import {
  PDFArray,
  type PDFContext,
  PDFDict,
  PDFHexString,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFString,
} from '@cantoo/pdf-lib';

// Reads objects that anybody may have written: one of another type than it should have counts as none.

export const name = (text: string): PDFName => PDFName.of(text);

/** Found once: each has to be looked up for every object. */
export const KEYS = {
  A: name('A'),
  Alt: name('Alt'),
  Annots: name('Annots'),
  Contents: name('Contents'),
  Document: name('Document'),
  Form: name('Form'),
  Headers: name('Headers'),
  ID: name('ID'),
  K: name('K'),
  Kids: name('Kids'),
  Lang: name('Lang'),
  Link: name('Link'),
  MCID: name('MCID'),
  MCR: name('MCR'),
  Nums: name('Nums'),
  Obj: name('Obj'),
  OBJR: name('OBJR'),
  P: name('P'),
  ParentTree: name('ParentTree'),
  ParentTreeNextKey: name('ParentTreeNextKey'),
  Pg: name('Pg'),
  Resources: name('Resources'),
  RoleMap: name('RoleMap'),
  S: name('S'),
  Stm: name('Stm'),
  StructParent: name('StructParent'),
  StructParents: name('StructParents'),
  StructTreeRoot: name('StructTreeRoot'),
  Subtype: name('Subtype'),
  ToUnicode: name('ToUnicode'),
  Type: name('Type'),
  XObject: name('XObject'),
};

/** The dictionary that a path of keys leads to; `from` itself without keys. */
export function dictAt(from: PDFObject | undefined, ...path: (string | PDFName)[]): PDFDict | undefined {
  let found = from;
  for (const key of path)
    found = found instanceof PDFDict ? found.lookup(key instanceof PDFName ? key : name(key)) : undefined;
  return found instanceof PDFDict ? found : undefined;
}

/** What an array holds, references as they are. */
export function listOf(object: PDFObject | undefined): PDFObject[] {
  return object instanceof PDFArray ? object.asArray() : [];
}

/** What stands for one or for several, as kids and contents do: references as they are. */
export function oneOrMore(
  { context }: { readonly context: PDFContext },
  given: PDFObject | undefined,
): PDFObject[] {
  const found = context.lookup(given);
  if (found instanceof PDFArray) return found.asArray();
  return given === undefined ? [] : [given];
}

/** A dictionary, or those in a list. */
export function dictsOf(given: PDFObject | undefined): PDFDict[] {
  const all =
    given instanceof PDFArray ? Array.from({ length: given.size() }, (_, i) => given.lookup(i)) : [given];
  return all.filter((each) => each instanceof PDFDict);
}

export function numberOf(object: PDFObject | undefined): number | undefined {
  return object instanceof PDFNumber ? object.asNumber() : undefined;
}

export function textOf(object: PDFObject | undefined): string | undefined {
  return object instanceof PDFString || object instanceof PDFHexString ? object.decodeText() : undefined;
}

/** The bytes of a string, each as a character. */
export function bytesOf(object: PDFObject | undefined): string | undefined {
  if (!(object instanceof PDFString || object instanceof PDFHexString)) return undefined;
  return Buffer.from(object.asBytes()).toString('latin1');
}

/** An entry of a tree, and where its value is. */
interface Leaf {
  readonly key: PDFObject | undefined;
  readonly value: PDFObject;
  readonly leaves: PDFArray;
  /** The index of the value in `leaves`. */
  readonly at: number;
}

/**
 * The entries of a name tree or a number tree (ISO 32000-1, 7.9.6 and 7.9.7), in their order. Nodes that are met again
 * are skipped, so that a tree without end has one.
 */
export function* leavesOf(
  context: PDFContext,
  root: PDFObject | undefined,
  kind: 'Names' | 'Nums',
): Generator<Leaf> {
  const met = new Set<PDFObject>();
  const open = [root];
  while (open.length > 0) {
    const node = context.lookup(open.pop());
    if (!(node instanceof PDFDict) || met.has(node)) continue;
    met.add(node);
    const leaves = node.lookup(name(kind));
    if (leaves instanceof PDFArray)
      for (let at = 1; at < leaves.size(); at += 2)
        yield { key: leaves.lookup(at - 1), value: leaves.get(at), leaves, at };
    open.push(...listOf(node.lookup(KEYS.Kids)).toReversed());
  }
}

/** Whether a document says that it is tagged. */
export function isMarked(catalog: PDFDict): boolean {
  return dictAt(catalog, 'MarkInfo')?.lookup(name('Marked'))?.toString() === 'true';
}
