import { writeSync } from 'node:fs';

/** A line for a person, to stderr, if anybody is there: stdout carries the log, and a closed terminal is no reason to end. */
export function tell(text: string): void {
  try {
    writeSync(2, `${text}\n`);
  } catch {
    // Nobody is.
  }
}
