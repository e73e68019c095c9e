import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Sent once, when the process can take its first call. */
export const READY = 'ready';

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
  watchParent();
  process.on('disconnect', () => process.exit(0));
  process.on('message', async (call: Call) => {
    process.send?.(await response(call));
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

/** While this thread computes, it cannot notice that the parent has ended, so another thread checks for that. */
function watchParent(): void {
  const watchdog = new Worker(new URL(`./watchdog${extname(import.meta.url)}`, import.meta.url), {
    workerData: process.ppid,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  watchdog.unref();
}
