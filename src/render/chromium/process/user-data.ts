import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sampleProcess } from './processes.ts';

/** `PID-STARTTIME-xxxxxx`: a later process can tell by it whether the process that made the folder is alive. */
const OWNED_FOLDER = /^(\d+)-(\d+)-\w+$/;

/** Makes an empty user-data folder for one browser under `root`, named after this process. */
export function createUserDataFolder(root: string): string {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(root, `${process.pid}-${sampleProcess(process.pid)?.startTime ?? 0}-`));
}

/** Removes the folder of a browser that has ended. A file that is still being written is left to the next sweep. */
export function removeUserDataFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 2, retryDelay: 20 });
  } catch {
    // Left to sweepUserData, which runs at each start.
  }
}

/** Removes folders under `root` whose processes ended without removing them. @returns the number of folders removed. */
export function sweepUserData(root: string): number {
  let names: string[];
  try {
    names = readdirSync(root);
  } catch {
    return 0;
  }
  const orphans = names.filter((name) => {
    const match = OWNED_FOLDER.exec(name);
    return match !== null && sampleProcess(Number(match[1]))?.startTime !== Number(match[2]);
  });
  for (const name of orphans) removeUserDataFolder(join(root, name));
  return orphans.length;
}
