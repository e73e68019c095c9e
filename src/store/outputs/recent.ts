import { Readable } from 'node:stream';
import type { OutputKey, OutputStore } from './output-store.ts';

/** A caller that waits fetches its PDF at once. */
const KEPT_MS = 5000;

/**
 * A store that also keeps what was put last in memory, for processes that fetch what they have put themselves.
 *
 * @param maxBytes kept in all; PDFs that would take more than a quarter of it are not kept.
 */
export function withRecentOutputs(store: OutputStore, maxBytes = 32 * 1024 * 1024): OutputStore {
  /** Oldest first. */
  const recent = new Map<OutputKey, { readonly pdf: Uint8Array; readonly timer: NodeJS.Timeout }>();
  let bytes = 0;

  const forget = (key: OutputKey) => {
    const entry = recent.get(key);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    recent.delete(key);
    bytes -= entry.pdf.byteLength;
  };

  const keep = (key: OutputKey, pdf: Uint8Array) => {
    forget(key);
    if (pdf.byteLength > maxBytes / 4) return;
    recent.set(key, { pdf, timer: setTimeout(() => forget(key), KEPT_MS).unref() });
    bytes += pdf.byteLength;
    for (const oldest of recent.keys()) {
      if (bytes <= maxBytes) break;
      forget(oldest);
    }
  };

  return {
    async put(key, pdf, signal) {
      await store.put(key, pdf, signal);
      keep(key, pdf);
    },
    problem: () => store.problem(),
    async get(key) {
      const pdf = recent.get(key)?.pdf;
      if (pdf === undefined) return await store.get(key);
      return { size: pdf.byteLength, stream: Readable.from([pdf]) };
    },
    async delete(key) {
      forget(key);
      await store.delete(key);
    },
    async deleteExpired(now) {
      for (const key of [...recent.keys()]) forget(key);
      return await store.deleteExpired(now);
    },
  };
}
