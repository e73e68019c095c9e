import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { isZygote, processTree } from './processes.ts';

/** How nice browsers are to the service, and their renderers to all else; see nice(2). */
const NICE = { browser: 5, renderers: 10 } as const;
/** The system takes one change of a session's priority in 100 ms from ordinary users, whoever makes it. */
const TRIES = 10;
const TRY_AGAIN_MS = 50;

/**
 * Has a browser that has just been started, and all that descends from it, give way to the service: that has little to
 * compute for each render, and waits for it behind all that documents compute otherwise. What the system does not allow is
 * left out.
 *
 * @param leader of the browser's session.
 */
export async function niceBrowser(leader: number): Promise<void> {
  attempt(() => setPriority(leader, NICE.browser));
  // Where the kernel schedules sessions as one, as out of containers, niceness is among those of the same session.
  for (let tries = 0; tries < TRIES; tries++) {
    const error = attempt(() => writeFileSync(`/proc/${leader}/autogroup`, `${NICE.browser}`));
    if (error?.code !== 'EAGAIN') return;
    await pause(TRY_AGAIN_MS, undefined, { ref: false });
  }
}

/** Has renderers that are started from now on give way to the main process of their browser: they come from zygotes. */
export function niceRenderers(browser: number): void {
  for (const { pid } of processTree(browser))
    if (isZygote(pid)) attempt(() => setPriority(pid, NICE.renderers));
}

function attempt(work: () => void): NodeJS.ErrnoException | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}
