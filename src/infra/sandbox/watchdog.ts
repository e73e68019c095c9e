/**
 * Runs as a thread of a sandbox process and ends that process when its parent has ended, or when it takes more memory than
 * it may, even while it computes.
 */
import { workerData } from 'node:worker_threads';

/** What the thread looks at. */
export interface Watched {
  /** The id of the parent process. */
  readonly parent: number;
  /** One number: 1 while the process computes, 0 otherwise. */
  readonly busy: Int32Array;
  /** Memory that the process may take in all; undefined without a bound. */
  readonly memoryBytes: number | undefined;
}

const CHECK_EVERY_MS = 500;
/** Between two looks at the memory while the process computes: decoding makes some 10 MB in this time. Milliseconds. */
const MEMORY_EVERY_MS = 25;

const { parent, busy, memoryBytes } = workerData as Watched;

for (;;) {
  const isBusy = memoryBytes !== undefined && Atomics.load(busy, 0) === 1;
  // Waits until the number changes, or for that long.
  Atomics.wait(busy, 0, isBusy ? 1 : Atomics.load(busy, 0), isBusy ? MEMORY_EVERY_MS : CHECK_EVERY_MS);
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
  // As V8 ends a process whose heap is used up.
  if (isBusy && process.memoryUsage.rss() > memoryBytes) process.kill(process.pid, 'SIGABRT');
}
