import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Sent once, when the process can take its first call. */
export const READY = 'ready';

/** What a call came to. A fault is one of the call, in words for whoever made it. */
export type Reply = { readonly output: unknown } | { readonly fault: string };

/**
 * The inside of a sandbox process: answers one call at a time on the channel it was forked with. It may be killed at
 * any moment and must hold nothing that is not to be lost. What `handle` throws goes back as the words of `wordsFor`.
 */
export function serve<Call>(
  handle: (call: Call) => unknown,
  wordsFor: (thrown: unknown) => string = String,
): void {
  watchParent();
  process.on('disconnect', () => process.exit(0));
  process.on('message', async (call: Call) => {
    process.send?.(await answer(call));
  });
  process.send?.(READY);

  async function answer(call: Call): Promise<Reply> {
    try {
      return { output: await handle(call) };
    } catch (thrown) {
      return { fault: wordsFor(thrown) };
    }
  }
}

/** Busy work keeps this thread from seeing that the parent is gone, so another one looks. */
function watchParent(): void {
  const watchdog = new Worker(new URL(`./watchdog${extname(import.meta.url)}`, import.meta.url), {
    workerData: process.ppid,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  watchdog.unref();
}
