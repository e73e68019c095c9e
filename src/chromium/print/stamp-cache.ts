/** Accounts whose stamps are kept, and stamps kept of each. */
const MAX_ACCOUNTS = 256;
const MAX_STAMPS = 8;

/** Watermark stamps by what makes them, apart for every account; the ones not used for longest give way. */
export class StampCache {
  readonly #accounts = new Map<string, Map<string, Uint8Array>>();

  get(accountId: string, key: string): Uint8Array | undefined {
    const stamps = this.#accounts.get(accountId);
    const stamp = stamps?.get(key);
    if (stamp) this.set(accountId, key, stamp);
    return stamp;
  }

  set(accountId: string, key: string, stamp: Uint8Array): void {
    const stamps = this.#accounts.get(accountId) ?? new Map<string, Uint8Array>();
    putLast(stamps, key, stamp, MAX_STAMPS);
    putLast(this.#accounts, accountId, stamps, MAX_ACCOUNTS);
  }
}

function putLast<V>(map: Map<string, V>, key: string, value: V, limit: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > limit && !oldest.done) map.delete(oldest.value);
}
