/** Runs as a thread of a sandbox process and ends that process when its parent has ended, even while it computes. */
import { workerData } from 'node:worker_threads';

const CHECK_EVERY_MS = 500;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL');
}, CHECK_EVERY_MS);
