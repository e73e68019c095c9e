/**
 * A template process: takes one call at a time from the engine, on the channel it was forked with.
 *
 * It may be killed at any moment and holds nothing that is not to be lost.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { faultText } from './faults.ts';
import { TemplateRenderer } from './liquid.ts';
import { type Call, READY, type Reply } from './protocol.ts';

const renderer = new TemplateRenderer();

function answer(call: Call): Reply {
  try {
    if (call.kind === 'render') return { output: renderer.render(call) };
    renderer.check(call.source);
    return { output: '' };
  } catch (thrown) {
    return { fault: faultText(thrown) };
  }
}

/** A busy template keeps this thread from seeing that the engine is gone, so another one looks. */
function watchParent(): void {
  const watchdog = new Worker(new URL(`./watchdog${extname(import.meta.url)}`, import.meta.url), {
    workerData: process.ppid,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  watchdog.unref();
}

watchParent();
process.on('disconnect', () => process.exit(0));
process.on('message', (call: Call) => process.send?.(answer(call)));
process.send?.(READY);
