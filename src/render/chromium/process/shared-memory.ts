import { accessSync, constants, lstatSync, mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Linux's folder for files in memory. */
const MEMORY_FILES = '/dev/shm';
/** File system type of a tmpfs, see statfs(2). */
const TMPFS_MAGIC = 0x01021994;
/** Room that the folder must have, as a part of all memory. */
const ROOM = 0.25;

/**
 * A folder in memory for the files through which the processes of a browser share memory. On a disk each file is an
 * inode that is written and removed again, a dozen times for every context
 * (docs/decisions/0115-warm-contexts-by-memory.md). A folder with little room is not used: one document could fill it
 * for all others. Docker and Kubernetes give 64 MiB by default.
 *
 * @param memoryBytes that the service may use.
 * @param files a folder in memory.
 * @returns undefined where there is no such folder, or it has too little room, or it belongs to another user.
 */
export function sharedMemoryRoot(memoryBytes: number, files = MEMORY_FILES): string | undefined {
  try {
    const { type, bavail, bsize } = statfsSync(files);
    if (type !== TMPFS_MAGIC || bavail * bsize < memoryBytes * ROOM) return undefined;
    // Not from userInfo(), which fails when the machine has no entry for this user.
    const uid = process.getuid?.() ?? -1;
    const folder = join(files, `platen-chromium-${uid}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === uid ? folder : undefined;
  } catch {
    return undefined;
  }
}
