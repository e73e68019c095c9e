import { accessSync, constants, lstatSync, mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux has its files in memory. */
const MEMORY_FILES = '/dev/shm';
/** Of a tmpfs, see statfs(2). */
const TMPFS_MAGIC = 0x01021994;
/** Part of the memory that there is for which there has to be room. */
const ROOM = 0.25;

/**
 * A folder in memory for what the processes of a browser share, which are files. On a disk each of them is an inode that
 * is written and removed again, a dozen times for every context (docs/decisions/0115-warm-contexts-by-memory.md).
 * A folder with little room is of no use: a document that fills it would take it from all others. Docker and
 * Kubernetes give 64 MiB unless told otherwise.
 *
 * @param memoryBytes that the service may use.
 * @param files a folder in memory.
 * @returns undefined where there is none, or too little room in it, or it is somebody else's.
 */
export function sharedMemoryRoot(memoryBytes: number, files = MEMORY_FILES): string | undefined {
  try {
    const { type, bavail, bsize } = statfsSync(files);
    if (type !== TMPFS_MAGIC || bavail * bsize < memoryBytes * ROOM) return undefined;
    // Not by userInfo(): who runs this need not be known to the machine.
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
