import { existsSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { isZygote, processTree } from './processes.ts';

/** How much nicer browsers are than the service, and their renderers; see nice(2). */
const NICER = { browser: 5, renderers: 10 } as const;
/** The program that lowers its own priority, and then becomes another: nice(1). */
const PROGRAM = ['/usr/bin/nice', '/bin/nice'].find((path) => existsSync(path));
/** The system takes one change of a session's priority in 100 ms from ordinary users, whoever makes it. */
const TRIES = 10;
const TRY_AGAIN_MS = 50;

/**
 * The command that runs a browser so that it, and all that descends from it, gives way to the service: that has little to
 * compute for each render, and waits for it behind all that documents compute otherwise. It is so before the browser begins:
 * a priority that is set later reaches one thread, and none of the processes that there are by then.
 *
 * @returns the same command where the system has no nice(1).
 */
export function niceCommand(command: [string, ...string[]]): [string, ...string[]] {
  return PROGRAM === undefined ? command : [PROGRAM, '-n', `${NICER.browser}`, ...command];
}

/**
 * Has the session of a browser that has just been started give way too, where the kernel schedules sessions as one, as out
 * of containers: there niceness is among processes of the same session. What the system does not allow is left out.
 *
 * @param leader of the session.
 */
export async function niceSession(leader: number): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const error = attempt(() => writeFileSync(`/proc/${leader}/autogroup`, `${NICER.browser}`));
    if (error?.code !== 'EAGAIN') return;
    await pause(TRY_AGAIN_MS, undefined, { ref: false });
  }
}

/** Has renderers that are started from now on give way to the main process of their browser: they come from zygotes. */
export function niceRenderers(browser: number): void {
  const priority = Math.min(getPriority() + NICER.renderers, constants.priority.PRIORITY_LOW);
  for (const { pid } of processTree(browser)) if (isZygote(pid)) attempt(() => setPriority(pid, priority));
}

function attempt(work: () => void): NodeJS.ErrnoException | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}
