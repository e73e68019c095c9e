import {
  PDFArray,
  type PDFContext,
  PDFDict,
  type PDFDocument,
  PDFHexString,
  PDFName,
  PDFNull,
  PDFNumber,
  type PDFObject,
  type PDFObjectCopier,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import { annotationsOf } from './merged-links.ts';
import { bytesOf, dictAt, dictsOf, KEYS, leavesOf, numberOf } from './objects.ts';

/** What the larger document gives to the structure of a part. */
export interface StructureTarget {
  /** The object number of the element that its elements come below. */
  readonly parent: number;
  /** The first key of its own in the tree of parents. */
  readonly firstKey: number;
  /** What the ids of its elements begin with, so that those of two parts differ. In the order of the parts. */
  readonly idPrefix: string;
}

/** The structure of a part in the larger document. Object numbers. */
export interface PartStructure {
  /** The element that has all others of the part below it. */
  readonly element: number;
  /** A leaf of the tree of parents; absent without keys. */
  readonly parents?: number;
  /** Keys that it uses. */
  readonly keys: number;
  /** A leaf of the tree of ids; absent without ids. */
  readonly ids?: number;
}

interface Element {
  readonly ref: PDFRef;
  readonly dict: PDFDict;
  /** Undefined at the top. */
  readonly parent: PDFRef | undefined;
}

/** How often the role of a role is looked up. */
const MAX_ROLES = 16;

/** The structure of a document that is to be merged; undefined for a document without one. */
export class Structure {
  readonly #context: PDFContext;
  readonly #target: StructureTarget;
  readonly #elements: readonly Element[];
  /** The values of the tree of parents by their old keys, in the order of the keys. */
  readonly #parents: ReadonlyMap<number, PDFObject>;
  #moved: ReadonlyMap<PDFRef, PDFRef> = new Map();

  private constructor(source: PDFDocument, root: PDFDict, target: StructureTarget) {
    this.#context = source.context;
    this.#target = target;
    this.#elements = elementsOf(source, root);
    this.#parents = new Map(
      [...leavesOf(source.context, root.get(KEYS.ParentTree), 'Nums')]
        .flatMap(({ key, value }) => (key instanceof PDFNumber ? [[key.asNumber(), value] as const] : []))
        .sort(([a], [b]) => a - b),
    );
    resolveRoles(this.#elements, root.lookup(KEYS.RoleMap));
    prefixIds(this.#elements, target.idPrefix);
  }

  static of(source: PDFDocument, target: StructureTarget): Structure | undefined {
    const root = dictAt(source.catalog, KEYS.StructTreeRoot);
    if (root === undefined) return undefined;
    const structure = new Structure(source, root, target);
    return structure.#elements.length === 0 ? undefined : structure;
  }

  /** Where an element is after `moveTo`; undefined for what is no element. */
  movedTo(element: PDFObject | undefined): PDFRef | undefined {
    return element instanceof PDFRef ? this.#moved.get(element) : undefined;
  }

  /** The key of the larger document for each key of this one. */
  get keys(): ReadonlyMap<number, number> {
    return new Map([...this.#parents.keys()].map((key, i) => [key, this.#target.firstKey + i]));
  }

  /**
   * Moves the elements of a document whose pages are copied: a copy of them would take as much memory again as the
   * document, most of whose objects may be elements.
   *
   * @param lang of the document.
   */
  moveTo(context: PDFContext, copier: PDFObjectCopier, lang: PDFObject | undefined): PartStructure {
    const moved = new Map(this.#elements.map(({ ref }) => [ref, context.nextRef()]));
    this.#moved = moved;
    const element = this.#documentElement(moved, context);
    for (const { ref, dict, parent } of this.#elements) {
      dict.delete(KEYS.P);
      for (const [key, value] of dict.entries()) dict.set(key, relocated(value, moved, copier));
      if (moved.get(ref) !== element) dict.set(KEYS.P, (parent && moved.get(parent)) ?? element);
      context.assign(moved.get(ref)!, dict);
    }
    const document = context.lookup(element, PDFDict);
    document.set(KEYS.P, PDFRef.of(this.#target.parent));
    if (lang !== undefined && !document.has(KEYS.Lang)) document.set(KEYS.Lang, lang.clone());
    const [ids, parents] = [this.#ids(moved, context), this.#parentsLeaf(moved, context)];
    return {
      element: element.objectNumber,
      keys: this.#parents.size,
      ...(parents !== undefined && { parents: parents.objectNumber }),
      ...(ids !== undefined && { ids: ids.objectNumber }),
    };
  }

  /** The one element at the top, if it is a document; else a new one around all at the top. */
  #documentElement(moved: ReadonlyMap<PDFRef, PDFRef>, context: PDFContext): PDFRef {
    const top = this.#elements.filter(({ parent }) => parent === undefined);
    const [first] = top;
    if (top.length === 1 && first!.dict.lookup(KEYS.S) === KEYS.Document) return moved.get(first!.ref)!;
    const kids = top.map(({ ref }) => moved.get(ref)!);
    return context.register(context.obj({ Type: 'StructElem', S: 'Document', K: kids }));
  }

  #parentsLeaf(moved: ReadonlyMap<PDFRef, PDFRef>, context: PDFContext): PDFRef | undefined {
    if (this.#parents.size === 0) return undefined;
    const movedOne = (value: PDFObject) => (value instanceof PDFRef && moved.get(value)) || PDFNull;
    const values = [...this.#parents.values()].map((value) => {
      const list = this.#context.lookup(value);
      if (!(list instanceof PDFArray)) return movedOne(value);
      return context.obj(list.asArray().map(movedOne));
    });
    const { firstKey } = this.#target;
    const limits = [firstKey, firstKey + values.length - 1];
    const nums = values.flatMap((value, i) => [PDFNumber.of(firstKey + i), value]);
    return context.register(context.obj({ Limits: limits, Nums: nums }));
  }

  #ids(moved: ReadonlyMap<PDFRef, PDFRef>, context: PDFContext): PDFRef | undefined {
    const byId = new Map<string, PDFRef>();
    for (const { ref, dict } of this.#elements) {
      const id = bytesOf(dict.lookup(KEYS.ID));
      if (id !== undefined && !byId.has(id)) byId.set(id, moved.get(ref)!);
    }
    if (byId.size === 0) return undefined;
    const sorted = [...byId].sort(([a], [b]) => (a < b ? -1 : 1));
    const limits = [sorted[0]![0], sorted.at(-1)![0]].map(hexOf);
    const names = sorted.flatMap(([id, ref]) => [hexOf(id), ref]);
    return context.register(context.obj({ Limits: limits, Names: names }));
  }
}

/**
 * Changes the keys by which pages, annotations and drawings find their elements; those without a new key are removed.
 */
export function renumberKeys(source: PDFDocument, keys: ReadonlyMap<number, number>): void {
  const dicts = new Set<PDFDict>();
  for (const [, object] of source.context.enumerateIndirectObjects()) {
    if (object instanceof PDFStream) dicts.add(object.dict);
    else if (object instanceof PDFDict) dicts.add(object);
  }
  // Annotations may stand in their page.
  for (const page of source.getPages())
    for (const annotation of annotationsOf(page.node)) dicts.add(annotation);
  for (const dict of dicts) {
    for (const entry of [KEYS.StructParents, KEYS.StructParent]) {
      const key = dict.lookup(entry);
      if (key === undefined) continue;
      const renumbered = keys.get(numberOf(key) ?? -1);
      if (renumbered === undefined) dict.delete(entry);
      else dict.set(entry, PDFNumber.of(renumbered));
    }
  }
}

/** A value with the references that it has in the larger document. What is within it is changed, not copied. */
function relocated(value: PDFObject, moved: ReadonlyMap<PDFRef, PDFRef>, copier: PDFObjectCopier): PDFObject {
  if (value instanceof PDFRef) return moved.get(value) ?? copier.copy(value);
  if (value instanceof PDFDict) {
    for (const [key, each] of value.entries()) value.set(key, relocated(each, moved, copier));
  } else if (value instanceof PDFArray) {
    for (let i = 0; i < value.size(); i += 1) value.set(i, relocated(value.get(i), moved, copier));
  }
  return value;
}

/** All elements, parents before their kids. Content of pages that are not printed is left out. */
function elementsOf(source: PDFDocument, root: PDFDict): Element[] {
  const { context } = source;
  const pages = new Set<PDFObject>(source.getPages().map(({ ref }) => ref));
  const elements: Element[] = [];
  const met = new Set<PDFObject>();
  const visitKids = (dict: PDFDict, parent: PDFRef | undefined) => {
    const kids = dict.lookup(KEYS.K);
    const list = kids instanceof PDFArray ? kids : undefined;
    if (list !== undefined) {
      dict.set(KEYS.K, met.has(list) ? PDFNull : list);
      if (met.has(list)) return;
      met.add(list);
    }
    for (let i = 0; i < (list?.size() ?? 1); i += 1) {
      const given = list === undefined ? dict.get(KEYS.K) : list.get(i);
      const kid = context.lookup(given);
      if (!(kid instanceof PDFDict)) continue;
      const page = kid.get(KEYS.Pg);
      if (page !== undefined && !pages.has(page)) kid.delete(KEYS.Pg);
      const type = kid.lookup(KEYS.Type);
      if (type === KEYS.MCR || type === KEYS.OBJR) continue;
      const isKnown = met.has(kid);
      met.add(kid);
      const ref = given instanceof PDFRef ? given : context.register(kid);
      // An element has one parent; one that is below itself would have no end.
      const kept = isKnown ? PDFNull : ref;
      if (list === undefined) dict.set(KEYS.K, kept);
      else list.set(i, kept);
      if (!isKnown) elements.push({ ref, dict: kid, parent });
    }
  };
  visitKids(root, undefined);
  // The list grows meanwhile.
  for (const { dict, ref } of elements) visitKids(dict, ref);
  return elements;
}

/** Replaces roles of the document's own by those that they stand for: two documents may mean different ones. */
function resolveRoles(elements: readonly Element[], roles: PDFObject | undefined): void {
  if (!(roles instanceof PDFDict)) return;
  for (const { dict } of elements) {
    for (let i = 0; i < MAX_ROLES; i += 1) {
      const role = dict.lookup(KEYS.S);
      const other = role instanceof PDFName ? roles.lookup(role) : undefined;
      if (!(other instanceof PDFName)) break;
      dict.set(KEYS.S, other);
    }
  }
}

/** Prefixes the ids of elements, and those by which the cells of tables name their headers. */
function prefixIds(elements: readonly Element[], prefix: string): void {
  const prefixed = (id: PDFObject | undefined) => {
    const text = bytesOf(id);
    return text === undefined ? undefined : hexOf(prefix + text);
  };
  // Cells may share a list.
  const met = new Set<PDFArray>();
  for (const { dict } of elements) {
    const id = prefixed(dict.lookup(KEYS.ID));
    if (id !== undefined) dict.set(KEYS.ID, id);
    for (const attributes of dictsOf(dict.lookup(KEYS.A))) {
      const headers = attributes.lookup(KEYS.Headers);
      if (!(headers instanceof PDFArray) || met.has(headers)) continue;
      met.add(headers);
      for (let i = 0; i < headers.size(); i += 1) headers.set(i, prefixed(headers.lookup(i)) ?? PDFNull);
    }
  }
}

function hexOf(text: string): PDFHexString {
  return PDFHexString.of(Buffer.from(text, 'latin1').toString('hex'));
}
