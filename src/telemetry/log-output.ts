import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** In milliseconds: how long a line waits for a slow reader, and how often it tries again. */
const PATIENCE_MS = 2000;
const CHECK_EVERY_MS = 20;

/**
 * Writes log lines to a file descriptor. A line that cannot be written (the terminal is closed, the reader has gone,
 * the disk of the log file is full) is dropped: a log is no reason to end what is being logged. When writing works
 * again, a line says how many are missing and why.
 *
 * @param write as `fs.writeSync`; another one for tests.
 */
export function createLogOutput(fd = 1, write: typeof writeSync = writeSync): DestinationStream {
  let lost = 0;
  let reason = 'unknown';

  const put = (text: string) => {
    // After a line that waited in vain no other waits: the process would do nothing else.
    const deadline = performance.now() + (lost === 0 ? PATIENCE_MS : 0);
    let rest = Buffer.from(text);
    while (rest.length > 0) {
      try {
        rest = rest.subarray(write(fd, rest));
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN' || performance.now() >= deadline) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, CHECK_EVERY_MS);
      }
    }
  };
  return {
    write(line) {
      try {
        if (lost > 0) {
          // On a line of its own, for the last one may have broken off.
          put(
            `\n${JSON.stringify({ level: 'warn', time: new Date(), lost, reason, msg: 'log lines were lost' })}\n`,
          );
          lost = 0;
        }
        put(line);
      } catch (error) {
        lost += 1;
        reason = codeOf(error) ?? 'unknown';
      }
    },
  };
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
