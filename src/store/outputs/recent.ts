import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { OutputKey, OutputStore } from './output-store.ts';

/** A caller that waits fetches its PDF at once. */
const KEPT_MS = 5000;
const MAX_ENTRY_BYTES = 1024 * 1024;

/**
 * A store that also keeps what was put last in memory, for processes that fetch what they have put themselves.
 *
 * @param maxBytes kept in all; PDFs that would take more than a quarter of it are not kept, nor are those of more than a
 *   mebibyte: each would be in memory as a whole for as long as its reader takes.
 */
export function withRecentOutputs(store: OutputStore, maxBytes = 32 * 1024 * 1024): OutputStore {
  const recent = new LRUCache<OutputKey, Uint8Array>({
    maxSize: maxBytes,
    maxEntrySize: Math.min(MAX_ENTRY_BYTES, maxBytes / 4),
    // The library takes no entry without a size.
    sizeCalculation: (pdf) => Math.max(1, pdf.byteLength),
    ttl: KEPT_MS,
    // What is not fetched any more must not stay in memory until something else is put.
    ttlAutopurge: true,
  });

  return {
    async put(key, pdf, signal) {
      await store.put(key, pdf, signal);
      recent.set(key, pdf);
    },
    problem: () => store.problem(),
    async get(key) {
      const pdf = recent.get(key);
      if (pdf === undefined) return await store.get(key);
      return { size: pdf.byteLength, stream: Readable.from([pdf]) };
    },
    async delete(key) {
      recent.delete(key);
      await store.delete(key);
    },
    async deleteExpired(now) {
      recent.clear();
      return await store.deleteExpired(now);
    },
  };
}
