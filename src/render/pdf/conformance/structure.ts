import {
  PDFArray,
  PDFDict,
  type PDFDocument,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import { KEYS } from './keys.ts';

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
    const root = document.catalog.lookup(KEYS.StructTreeRoot);
    return root instanceof PDFDict ? new StructureTree(document, root) : undefined;
  }

  /** Adds an element that takes over all kids of `element` for which `moves` holds, in place of the first of them. */
  wrapKids(element: StructureElement, type: string, moves: (kid: PDFObject) => boolean): void {
    const { context } = this.document;
    const kids = kidsOf(this.document, element.dict);
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

  /** Makes `parent` the parent of a kid: of an element, or of marked content. */
  #adopt(kid: PDFObject, from: StructureElement, parent: PDFRef): void {
    const found = this.document.context.lookup(kid);
    if (found instanceof PDFDict && found.has(KEYS.S)) {
      found.set(KEYS.P, parent);
      return;
    }
    const holder = found instanceof PDFDict ? (found.get(KEYS.Stm) ?? found.get(KEYS.Pg)) : undefined;
    const id = found instanceof PDFDict ? found.get(KEYS.MCID) : found;
    if (id instanceof PDFNumber) this.#setParent(holder ?? from.dict.get(KEYS.Pg), id.asNumber(), parent);
  }

  /** @param holder the page or form whose content is marked with this id. */
  #setParent(holder: PDFObject | undefined, id: number, parent: PDFRef): void {
    const found = this.document.context.lookup(holder);
    const dict = found instanceof PDFStream ? found.dict : found;
    const key = dict instanceof PDFDict ? dict.get(KEYS.StructParents) : undefined;
    if (!(key instanceof PDFNumber)) return;
    const parents = this.#parentsByKey.get(key.asNumber());
    if (parents instanceof PDFArray && id < parents.size()) parents.set(id, parent);
  }

  get #parentsByKey(): ReadonlyMap<number, PDFObject | undefined> {
    this.#parents ??= parentsOf(this.document, this.root);
    return this.#parents;
  }
  #parents: ReadonlyMap<number, PDFObject | undefined> | undefined;
}

/** The kids of an element: elements, ids of marked content, references to content and to objects. */
export function kidsOf({ context }: PDFDocument, dict: PDFDict): PDFObject[] {
  const kids = dict.get(KEYS.K);
  const found = context.lookup(kids);
  if (found instanceof PDFArray) return found.asArray();
  return kids === undefined ? [] : [kids];
}

function elementsOf(document: PDFDocument, root: PDFDict): StructureElement[] {
  const all: StructureElement[] = [];
  const seen = new Set<PDFDict>();
  const open: { kid: PDFObject; parent: StructureElement | undefined }[] = [];
  const push = (dict: PDFDict, parent: StructureElement | undefined) => {
    for (const kid of kidsOf(document, dict).toReversed()) open.push({ kid, parent });
  };
  push(root, undefined);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { kid, parent } = next;
    if (!(kid instanceof PDFRef)) continue;
    const dict = document.context.lookup(kid);
    const type = dict instanceof PDFDict ? dict.get(KEYS.S) : undefined;
    if (!(dict instanceof PDFDict) || !(type instanceof PDFName) || seen.has(dict)) continue;
    seen.add(dict);
    const hasContent = kidsOf(document, dict).some((own) => !isElement(document, own));
    const element = { ref: kid, dict, type: type.decodeText(), parent, children: [], hasContent };
    all.push(element);
    parent?.children.push(element);
    push(dict, element);
  }
  return all;
}

function isElement({ context }: PDFDocument, kid: PDFObject): boolean {
  const found = kid instanceof PDFRef ? context.lookup(kid) : kid;
  return found instanceof PDFDict && found.has(KEYS.S);
}

/** The tree of parents (ISO 32000-1, 14.7.4.4), as Chromium writes it: in one node, or with nodes below it. */
function parentsOf({ context }: PDFDocument, root: PDFDict): Map<number, PDFObject | undefined> {
  const found = new Map<number, PDFObject | undefined>();
  const open = [root.get(KEYS.ParentTree)];
  const seen = new Set<unknown>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const node = context.lookup(next);
    if (!(node instanceof PDFDict) || seen.has(node)) continue;
    seen.add(node);
    const kids = node.lookup(KEYS.Kids);
    if (kids instanceof PDFArray) open.push(...kids.asArray());
    const numbers = node.lookup(KEYS.Nums);
    if (!(numbers instanceof PDFArray)) continue;
    for (let i = 0; i + 1 < numbers.size(); i += 2) {
      const key = numbers.get(i);
      if (key instanceof PDFNumber) found.set(key.asNumber(), context.lookup(numbers.get(i + 1)));
    }
  }
  return found;
}
