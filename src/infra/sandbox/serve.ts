import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Watched } from './watchdog.ts';

/** Sent once, when the process can take its first call. */
export const READY = 'ready';
/** The environment variable with the megabytes of memory that the process may take in all; absent without a bound. */
export const MEMORY_MB = 'SANDBOX_MEMORY_MB';
const MIB = 1024 * 1024;

/** The result of a call, or its error's message, for the author of the call. */
export type Reply = { readonly output: unknown } | { readonly error: string };

/**
 * The program of a sandbox process: runs one call at a time, over the channel that it was forked with. It may be killed
 * at any moment and must hold no state that has to survive. Errors of `handle` are returned in the words of `wordsFor`.
 */
export function serve<Call>(
  handle: (call: Call) => unknown,
  wordsFor: (thrown: unknown) => string = String,
): void {
  const noteBusy = startWatchdog();
  process.on('disconnect', () => process.exit(0));
  process.on('message', async (call: Call) => {
    noteBusy(true);
    process.send?.(await response(call));
    noteBusy(false);
  });
  process.send?.(READY);

  async function response(call: Call): Promise<Reply> {
    try {
      return { output: await handle(call) };
    } catch (thrown) {
      return { error: wordsFor(thrown) };
    }
  }
}

/**
 * While this thread computes, it notices neither that the parent has ended nor that its buffers grow, so another thread
 * looks.
 *
 * @returns a function that tells that thread whether this one computes.
 */
function startWatchdog(): (busy: boolean) => void {
  const busy = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const memoryMb = process.env[MEMORY_MB];
  const watchdog = new Worker(new URL(`./watchdog${extname(import.meta.url)}`, import.meta.url), {
    workerData: {
      parent: process.ppid,
      busy,
      memoryBytes: memoryMb === undefined ? undefined : Number(memoryMb) * MIB,
    } satisfies Watched,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  watchdog.unref();
  return (isBusy) => {
    Atomics.store(busy, 0, isBusy ? 1 : 0);
    Atomics.notify(busy, 0);
  };
}
