import { existsSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { kindOf, processTree } from './processes.ts';

/** How much higher the niceness of browsers and of their renderers is than the service's; see nice(2). */
const NICER = { browser: 5, renderers: 10 } as const;
/** nice(1), which lowers its own priority and then executes a command. */
const PROGRAM = ['/usr/bin/nice', '/bin/nice'].find((path) => existsSync(path));
/** For ordinary users the system accepts one change of a session's priority per 100 ms. */
const TRIES = 10;
const TRY_AGAIN_MS = 50;

/**
 * The command that runs a browser with a lower priority than the service's, for the browser and all its descendants.
 * The service has little to compute for each render, and would otherwise wait behind everything that documents compute.
 * The priority is set before the browser starts: a later change reaches one thread, and none of the processes that
 * exist by then.
 *
 * @returns the same command where the system has no nice(1).
 */
export function niceCommand(command: [string, ...string[]]): [string, ...string[]] {
  return PROGRAM === undefined ? command : [PROGRAM, '-n', `${NICER.browser}`, ...command];
}

/**
 * Lowers the priority of the session of a browser that has just been started. This is needed where the kernel schedules
 * sessions as units, as it does outside of containers: there niceness only counts among processes of the same session.
 * A change that the system does not allow is skipped.
 *
 * @param leader pid of the session's leader.
 */
export async function niceSession(leader: number): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const error = attempt(() => writeFileSync(`/proc/${leader}/autogroup`, `${NICER.browser}`));
    if (error?.code !== 'EAGAIN') return;
    await pause(TRY_AGAIN_MS, undefined, { ref: false });
  }
}

/** Lowers future renderers below the browser's main process, by lowering the zygotes that fork them. */
export function niceRenderers(browser: number): void {
  const priority = Math.min(getPriority() + NICER.renderers, constants.priority.PRIORITY_LOW);
  for (const { pid } of processTree(browser))
    if (kindOf(pid) === 'zygote') attempt(() => setPriority(pid, priority));
}

function attempt(work: () => void): NodeJS.ErrnoException | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}
