import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/** Resolves when it holds; fails when it does not within the time, which is far more than a busy machine needs. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(POLL_MS);
  }
}
