import { setTimeout as sleep } from 'node:timers/promises';

/** In milliseconds. Polls soon at first, and less and less often. */
const FIRST_POLL_MS = 20;
const LAST_POLL_MS = 100;
/** A poll may cost as much as the work it waits for: it is followed by a pause of so many times what it took, up to a bound. */
const PAUSE_PER_POLL = 4;
const LONGEST_PAUSE_MS = 1000;
/** What has not come after so long never comes: far more than a busy machine needs, in milliseconds. */
export const HUNG_MS = 240_000;

/** Resolves when it holds; fails when it does not within the time. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = HUNG_MS,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(LAST_POLL_MS, pauseMs * 1.1)) {
    const polledAt = performance.now();
    if (await holds()) return;
    const now = performance.now();
    if (now > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(Math.max(pauseMs, Math.min(LONGEST_PAUSE_MS, PAUSE_PER_POLL * (now - polledAt))));
  }
}
