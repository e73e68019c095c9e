import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Sent once, when the process can take its first call. */
export const READY = 'ready';

/** The result of a call, or the message of its error, for its author. */
export type Reply = { readonly output: unknown } | { readonly error: string };

/**
 * The inside of a sandbox process: runs one call at a time on the channel that it was forked with. It may be killed at
 * any moment and must hold nothing that has to survive. Errors of `handle` are returned in the words of `wordsFor`.
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

/** Busy work keeps this thread from noticing that the parent is gone, so another thread checks for it. */
function watchParent(): void {
  const watchdog = new Worker(new URL(`./watchdog${extname(import.meta.url)}`, import.meta.url), {
    workerData: process.ppid,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  watchdog.unref();
}
