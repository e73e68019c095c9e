import { Heap, type HeapItem } from './heap.ts';
import type { Usage } from './virtual-time.ts';

export interface Entry extends HeapItem {
  readonly account: string;
  /** Grows from request to request. */
  readonly sequence: number;
}

/** The requests of one account. */
interface Flow<T extends Entry> extends HeapItem {
  readonly account: string;
  /** The account's virtual time when it was last computed; the current one is not smaller. */
  virtualTime: number;
  /** In the order of their sequence numbers. */
  readonly requests: Heap<T>;
}

/** The waiting requests of one priority: accounts by virtual time, and first in, first out within an account. */
export class Backlog<T extends Entry> {
  readonly #usage: Usage;
  readonly #flows = new Map<string, Flow<T>>();
  readonly #byVirtualTime = new Heap<Flow<T>>(
    (a, b) =>
      a.virtualTime < b.virtualTime ||
      (a.virtualTime === b.virtualTime && a.requests.first!.sequence < b.requests.first!.sequence),
  );
  #size = 0;

  constructor(usage: Usage) {
    this.#usage = usage;
  }

  get size(): number {
    return this.#size;
  }

  get accounts(): Iterable<string> {
    return this.#flows.keys();
  }

  /** Requests of one account. */
  sizeOf(account: string): number {
    return this.#flows.get(account)?.requests.size ?? 0;
  }

  add(entry: T): void {
    this.#size += 1;
    const { account } = entry;
    const known = this.#flows.get(account);
    const requests = known?.requests ?? new Heap<T>((a, b) => a.sequence < b.sequence);
    requests.add(entry);
    if (known !== undefined) return;
    const virtualTime = this.#usage.virtualTimeOf(account, this.#usage.now());
    const flow = { account, virtualTime, requests, position: 0 };
    this.#flows.set(account, flow);
    this.#byVirtualTime.add(flow);
  }

  delete(entry: T): void {
    this.#size -= 1;
    const flow = this.#flows.get(entry.account)!;
    flow.requests.remove(entry);
    if (flow.requests.size === 0) {
      this.#flows.delete(entry.account);
      this.#byVirtualTime.remove(flow);
    } else {
      flow.virtualTime = this.#usage.virtualTimeOf(entry.account, this.#usage.now());
      this.#byVirtualTime.update(flow);
    }
  }

  /**
   * The next request of the eligible account with the least virtual time. O(log accounts) for the result, for each
   * ineligible account before it, and for each account whose virtual time has grown.
   */
  first(isEligible: (account: string) => boolean): T | undefined {
    const now = this.#usage.now();
    const ineligible: Flow<T>[] = [];
    let found: T | undefined;
    for (
      let flow = this.#byVirtualTime.first;
      flow !== undefined && found === undefined;
      flow = this.#byVirtualTime.first
    ) {
      const virtualTime = this.#usage.virtualTimeOf(flow.account, now);
      if (virtualTime > flow.virtualTime) {
        flow.virtualTime = virtualTime;
        this.#byVirtualTime.update(flow);
      } else if (isEligible(flow.account)) {
        found = flow.requests.first;
      } else {
        this.#byVirtualTime.remove(flow);
        ineligible.push(flow);
      }
    }
    for (const flow of ineligible) this.#byVirtualTime.add(flow);
    return found;
  }
}
