interface Event {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

/** What is to happen, by its time in milliseconds; what is due at the same moment happens in the order it was planned. */
export class EventQueue {
  now = 0;
  readonly #heap: Event[] = [];
  #planned = 0;

  at(time: number, act: () => void): void {
    const heap = this.#heap;
    const event = { at: Math.max(time, this.now), order: this.#planned, act };
    this.#planned += 1;
    let index = heap.length;
    heap.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent]!;
      if (!isBefore(event, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = event;
  }

  after(ms: number, act: () => void): void {
    this.at(this.now + ms, act);
  }

  /** Lets everything happen that is due up to this time, also what is planned meanwhile. */
  runUntil(time: number): void {
    while (this.#heap.length > 0 && this.#heap[0]!.at <= time) {
      const event = this.#take();
      this.now = event.at;
      event.act();
    }
    this.now = time;
  }

  #take(): Event {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    const size = heap.length;
    if (size === 0) return first;
    let index = 0;
    for (;;) {
      let child = index * 2 + 1;
      if (child >= size) break;
      if (child + 1 < size && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
