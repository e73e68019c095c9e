import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** How long a line waits for a slow reader, and the interval between attempts, in milliseconds. */
const PATIENCE_MS = 2000;
const CHECK_EVERY_MS = 20;

/**
 * Writes log lines to a file descriptor. A line that cannot be written (the terminal is closed, the reader has gone,
 * the disk of the log file is full) is dropped, so that logging never ends the process. When writing works again, a
 * line reports how many lines are missing and why.
 *
 * @param write `fs.writeSync`, or a replacement for tests.
 */
export function createLogOutput(fd = 1, write: typeof writeSync = writeSync): DestinationStream {
  let lost = 0;
  let reason = 'unknown';

  const put = (text: string) => {
    // After a line has waited in vain, later lines do not wait: otherwise the process would only wait.
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
          // On a new line, because the last line may be incomplete.
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
