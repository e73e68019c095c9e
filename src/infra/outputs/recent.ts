import { LRUCache } from 'lru-cache';
import { inMemory, type OutputKey, type OutputStore } from './output-store.ts';

/** How long a PDF stays in memory, in milliseconds: a waiting caller fetches its PDF at once. */
const KEPT_MS = 5000;
const MAX_ENTRY_BYTES = 1024 * 1024;

/**
 * A store that also keeps the last stored PDFs in memory, for processes that fetch the PDFs that they have stored.
 *
 * @param maxBytes of all kept PDFs. PDFs larger than a quarter of it, or than 1 MiB, are not kept: each would be in
 * memory as a whole for as long as its reader takes.
 */
export function withRecentOutputs(store: OutputStore, maxBytes = 32 * 1024 * 1024): OutputStore {
  const recent = new LRUCache<OutputKey, Uint8Array>({
    maxSize: maxBytes,
    maxEntrySize: Math.min(MAX_ENTRY_BYTES, maxBytes / 4),
    // The library accepts no entry of size 0.
    sizeCalculation: (pdf) => Math.max(1, pdf.byteLength),
    ttl: KEPT_MS,
    // Without it, a PDF that is not fetched would stay in memory until the next one is stored.
    ttlAutopurge: true,
  });

  return {
    ...store,
    async put(key, pdf, signal, sha256) {
      await store.put(key, pdf, signal, sha256);
      recent.set(key, pdf);
    },
    async get(key) {
      const pdf = recent.get(key);
      if (pdf === undefined) return await store.get(key);
      return inMemory(pdf);
    },
    async delete(...keys) {
      for (const key of keys) recent.delete(key);
      await store.delete(...keys);
    },
    async deleteExpired(now) {
      recent.clear();
      return await store.deleteExpired(now);
    },
  };
}
