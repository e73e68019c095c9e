import {
  PDFArray,
  type PDFContext,
  type PDFDict,
  PDFNumber,
  type PDFObject,
  type PDFRef,
} from '@cantoo/pdf-lib';
import { dictAt, KEYS, leavesOf, numberOf } from '../objects.ts';

/** The tree by which content and annotations find their elements (ISO 32000-1, 14.7.4.4). Keys are objects, as found. */
export class ParentTree {
  readonly #context: PDFContext;
  readonly #root: PDFDict;
  /** Where the value of each key is. */
  readonly #slots = new Map<number, { readonly leaves: PDFArray; readonly at: number }>();
  #next: number;
  #added: { readonly leaves: PDFArray; readonly limits: PDFArray | undefined } | undefined;

  /** @param root of the structure. */
  constructor({ context }: { readonly context: PDFContext }, root: PDFDict) {
    this.#context = context;
    this.#root = root;
    this.#next = numberOf(root.lookup(KEYS.ParentTreeNextKey)) ?? 0;
    for (const { key, leaves, at } of leavesOf(context, root.get(KEYS.ParentTree), 'Nums')) {
      const number = numberOf(key);
      if (number === undefined) continue;
      this.#slots.set(number, { leaves, at });
      this.#next = Math.max(this.#next, number + 1);
    }
  }

  /** The element of an annotation, or the list of those of marked content. */
  valueAt(key: PDFObject | undefined): PDFObject | undefined {
    const slot = this.#slots.get(numberOf(key) ?? -1);
    return slot?.leaves.get(slot.at);
  }

  /** The elements of the marked content of a page or a form, by its ids. */
  listAt(key: PDFObject | undefined): PDFArray | undefined {
    const found = this.#context.lookup(this.valueAt(key));
    return found instanceof PDFArray ? found : undefined;
  }

  set(key: PDFObject | undefined, element: PDFRef): void {
    const slot = this.#slots.get(numberOf(key) ?? -1);
    slot?.leaves.set(slot.at, element);
  }

  /** @returns the key of an annotation that belongs to an element. */
  add(element: PDFRef): PDFNumber {
    const key = PDFNumber.of(this.#next);
    this.#added ??= this.#place(key);
    const { leaves, limits } = this.#added;
    leaves.push(key);
    leaves.push(element);
    limits?.set(1, key);
    this.#slots.set(this.#next, { leaves, at: leaves.size() - 1 });
    this.#next += 1;
    this.#root.set(KEYS.ParentTreeNextKey, PDFNumber.of(this.#next));
    return key;
  }

  /** Where keys are added, which are greater than all that the tree has: in its one node, or in a new one at its end. */
  #place(key: PDFNumber) {
    const context = this.#context;
    const known = dictAt(this.#root, KEYS.ParentTree);
    const tree = known ?? context.obj({});
    if (known === undefined) this.#root.set(KEYS.ParentTree, context.register(tree));
    const [kids, own] = [tree.lookup(KEYS.Kids), tree.lookup(KEYS.Nums)];
    const leaves = own instanceof PDFArray ? own : context.obj([]);
    const limits = kids instanceof PDFArray ? context.obj([key, key]) : undefined;
    if (kids instanceof PDFArray) kids.push(context.register(context.obj({ Limits: limits!, Nums: leaves })));
    else tree.set(KEYS.Nums, leaves);
    return { leaves, limits };
  }
}
