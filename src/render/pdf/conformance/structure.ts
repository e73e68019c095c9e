import {
  PDFDict,
  type PDFDocument,
  PDFName,
  type PDFNull,
  type PDFObject,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import { dictAt, KEYS, name, numberOf, oneOrMore } from '../objects.ts';
import { ParentTree } from './parent-tree.ts';

/** An element of the structure (ISO 32000-1, 14.7.2), with where it is. */
export interface StructureElement {
  readonly ref: PDFRef;
  readonly dict: PDFDict;
  /** The type as it is written, such as `P` or `Strong`. */
  readonly type: string;
  readonly parent: StructureElement | undefined;
  /** In their order. A repair may change what is in an element, which this shows only after another reading. */
  readonly children: StructureElement[];
  /** Whether anything is drawn that belongs to it directly. */
  readonly hasContent: boolean;
}

/** The structure tree of a tagged document. */
export class StructureTree {
  readonly document: PDFDocument;
  readonly root: PDFDict;
  /** All elements, each before those in it. */
  readonly elements: readonly StructureElement[];

  private constructor(document: PDFDocument, root: PDFDict) {
    this.document = document;
    this.root = root;
    this.elements = elementsOf(document, root);
  }

  /** Undefined for a document without a structure. */
  static of(document: PDFDocument): StructureTree | undefined {
    const root = dictAt(document.catalog, KEYS.StructTreeRoot);
    return root && new StructureTree(document, root);
  }

  /** Gives a document without a structure one, of a single element that has nothing in it. */
  static begin(document: PDFDocument): StructureTree {
    const { context, catalog } = document;
    const [root, whole] = [context.nextRef(), context.nextRef()];
    context.assign(whole, context.obj({ S: 'Document', P: root, K: [] }));
    const parents = context.register(context.obj({ Nums: [] }));
    context.assign(root, context.obj({ Type: 'StructTreeRoot', K: whole, ParentTree: parents }));
    catalog.set(KEYS.StructTreeRoot, root);
    catalog.set(name('MarkInfo'), context.obj({ Marked: true }));
    return new StructureTree(document, context.lookup(root, PDFDict));
  }

  /** Adds an element that takes over all kids of `element` for which `moves` holds, in place of the first of them. */
  wrapKids(element: StructureElement, type: string, moves: (kid: PDFObject) => boolean): void {
    const { context } = this.document;
    const kids = oneOrMore(this.document, element.dict.get(KEYS.K));
    const moved = kids.filter(moves);
    const [first] = moved;
    if (first === undefined) return;
    const dict = context.obj({ S: type, P: element.ref });
    const page = element.dict.get(KEYS.Pg);
    if (page !== undefined) dict.set(KEYS.Pg, page);
    dict.set(KEYS.K, context.obj(moved));
    const ref = context.register(dict);
    for (const kid of moved) this.#adopt(kid, element, ref);
    const isMoved = new Set(moved);
    const left = kids.flatMap((kid) => (kid === first ? [ref] : isMoved.has(kid) ? [] : [kid]));
    element.dict.set(KEYS.K, context.obj(left));
  }

  /** The element that an annotation belongs to; undefined for one that belongs to none. */
  holderOf(annotation: PDFDict): StructureElement | undefined {
    const found = dictAt(
      this.document.context.lookup(this.parents.valueAt(annotation.get(KEYS.StructParent))),
    );
    this.#byDict ??= new Map(this.elements.map((element) => [element.dict, element]));
    return found && this.#byDict.get(found);
  }
  #byDict: ReadonlyMap<PDFDict, StructureElement> | undefined;

  /** Adds an element of a type at the end of the document, which an annotation belongs to from then on. */
  addFor(annotation: PDFRef, page: PDFRef, type: string): void {
    const { context } = this.document;
    const [first] = this.elements;
    const dict = context.obj({
      S: type,
      P: first?.ref ?? this.document.catalog.get(KEYS.StructTreeRoot),
      Pg: page,
    });
    dict.set(KEYS.K, context.obj({ Type: 'OBJR', Obj: annotation, Pg: page }));
    const ref = context.register(dict);
    const parent = first?.dict ?? this.root;
    parent.set(KEYS.K, context.obj([...oneOrMore(this.document, parent.get(KEYS.K)), ref]));
    context.lookup(annotation, PDFDict).set(KEYS.StructParent, this.parents.add(ref));
  }

  /** Makes `parent` the parent of a kid: of an element, of an annotation, or of marked content. */
  #adopt(kid: PDFObject, from: StructureElement, parent: PDFRef): void {
    const found = dictAt(this.document.context.lookup(kid));
    const object = dictAt(found, KEYS.Obj);
    if (found?.has(KEYS.S)) found.set(KEYS.P, parent);
    else if (object !== undefined) this.parents.set(object.get(KEYS.StructParent), parent);
    else {
      const mark = this.markOf(kid, from);
      if (mark !== undefined) this.setHolder(mark.holder, mark.id, parent);
    }
  }

  /** The marked content that a kid of an element is: its id, and the page or form that draws it. */
  markOf(kid: PDFObject, { dict }: StructureElement): { holder: PDFObject; id: number } | undefined {
    const given = this.document.context.lookup(kid);
    const found = dictAt(given);
    const id = numberOf(found === undefined ? given : found.get(KEYS.MCID));
    const holder = found?.get(KEYS.Stm) ?? found?.get(KEYS.Pg) ?? dict.get(KEYS.Pg);
    return holder === undefined || id === undefined ? undefined : { holder, id };
  }

  /** @param owner the element of marked content from then on; null for none. */
  setHolder(holder: PDFObject, id: number, owner: PDFRef | typeof PDFNull): void {
    const found = this.document.context.lookup(holder);
    const dict = found instanceof PDFStream ? found.dict : dictAt(found);
    const owners = this.parents.listAt(dict?.get(KEYS.StructParents));
    if (owners !== undefined && id < owners.size()) owners.set(id, owner);
  }

  get parents(): ParentTree {
    this.#parents ??= new ParentTree(this.document, this.root);
    return this.#parents;
  }
  #parents: ParentTree | undefined;
}

function elementsOf(document: PDFDocument, root: PDFDict): StructureElement[] {
  const all: StructureElement[] = [];
  const seen = new Set<PDFDict>();
  const open: { kid: PDFObject; parent: StructureElement | undefined }[] = [];
  const push = (dict: PDFDict, parent: StructureElement | undefined) => {
    for (const kid of oneOrMore(document, dict.get(KEYS.K)).toReversed()) open.push({ kid, parent });
  };
  push(root, undefined);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { kid, parent } = next;
    if (!(kid instanceof PDFRef)) continue;
    const dict = dictAt(document.context.lookup(kid));
    const type = dict?.get(KEYS.S);
    if (dict === undefined || !(type instanceof PDFName) || seen.has(dict)) continue;
    seen.add(dict);
    const hasContent = oneOrMore(document, dict.get(KEYS.K)).some((own) => !isElement(document, own));
    const element = { ref: kid, dict, type: type.decodeText(), parent, children: [], hasContent };
    all.push(element);
    parent?.children.push(element);
    push(dict, element);
  }
  return all;
}

function isElement({ context }: PDFDocument, kid: PDFObject): boolean {
  return dictAt(context.lookup(kid))?.has(KEYS.S) === true;
}
