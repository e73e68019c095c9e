export interface HeapItem {
  /** Its index in the heap; written only by the heap. */
  position: number;
}

/** A binary heap: the least item is found in O(1); adding, removing and updating one takes O(log n). */
export class Heap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    item.position = this.#items.push(item) - 1;
    this.update(item);
  }

  remove(item: T): void {
    const last = this.#items.pop()!;
    if (last === item) return;
    last.position = item.position;
    this.update(last);
  }

  /** Moves an item whose order has changed. */
  update(item: T): void {
    const items = this.#items;
    let { position } = item;
    while (position > 0) {
      const parent = items[(position - 1) >> 1]!;
      if (!this.#isBefore(item, parent)) break;
      [position, parent.position] = [parent.position, position];
      items[parent.position] = parent;
    }
    for (;;) {
      const [left, right] = [items[2 * position + 1], items[2 * position + 2]];
      const child = left && right && this.#isBefore(right, left) ? right : left;
      if (child === undefined || !this.#isBefore(child, item)) break;
      [position, child.position] = [child.position, position];
      items[child.position] = child;
    }
    item.position = position;
    items[position] = item;
  }
}
