import { LRUCache } from 'lru-cache';

/** Accounts whose watermarks are kept, and watermarks kept of each. */
const MAX_ACCOUNTS = 256;
const MAX_WATERMARKS = 8;

/** Printed watermarks by what makes them, apart for every account; the ones not used for longest give way. */
export class WatermarkCache {
  readonly #accounts = new LRUCache<string, LRUCache<string, Uint8Array>>({ max: MAX_ACCOUNTS });

  get(accountId: string, key: string): Uint8Array | undefined {
    return this.#accounts.get(accountId)?.get(key);
  }

  set(accountId: string, key: string, pdf: Uint8Array): void {
    const watermarks =
      this.#accounts.get(accountId) ?? new LRUCache<string, Uint8Array>({ max: MAX_WATERMARKS });
    watermarks.set(key, pdf);
    this.#accounts.set(accountId, watermarks);
  }
}
