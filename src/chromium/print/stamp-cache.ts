import { LRUCache } from 'lru-cache';

/** Accounts whose stamps are kept, and stamps kept of each. */
const MAX_ACCOUNTS = 256;
const MAX_STAMPS = 8;

/** Watermark stamps by what makes them, apart for every account; the ones not used for longest give way. */
export class StampCache {
  readonly #accounts = new LRUCache<string, LRUCache<string, Uint8Array>>({ max: MAX_ACCOUNTS });

  get(accountId: string, key: string): Uint8Array | undefined {
    return this.#accounts.get(accountId)?.get(key);
  }

  set(accountId: string, key: string, stamp: Uint8Array): void {
    const stamps = this.#accounts.get(accountId) ?? new LRUCache<string, Uint8Array>({ max: MAX_STAMPS });
    stamps.set(key, stamp);
    this.#accounts.set(accountId, stamps);
  }
}
