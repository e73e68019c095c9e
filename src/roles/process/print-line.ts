import { writeSync } from 'node:fs';

/** Writes a line for a person to stderr, if it is open: stdout is the log, and a closed terminal no reason to end. */
export function printLine(text: string): void {
  try {
    writeSync(2, `${text}\n`);
  } catch {
    // It is closed.
  }
}
