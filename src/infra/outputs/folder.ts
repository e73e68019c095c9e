import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DiskSpace } from './disk-space.ts';
import { HOUR_MS, type OutputKey, type OutputStore } from './output-store.ts';

const KEY = /^(?<hour>\d{1,9})\/(?<name>[A-Za-z0-9_-]{1,100}\.\d{1,15}\.(?:pdf|json|xml))$/;
const HOUR_FOLDER = /^\d{1,9}$/;
const FILE = /^[A-Za-z0-9_-]{1,100}\.\d{1,15}\.(?:pdf|json|xml)$/;
/** The folder for files that are being written, each under a unique name. */
const UNFINISHED = 'unfinished';
const ABANDONED_AFTER_MS = HOUR_MS;

/**
 * Outputs as files: `<folder>/<expiry hour>/<job>.<fence>.pdf`, for reports `….json`, for e-invoices `….xml`. A file gets its name when it is
 * complete and on the disk. A crash leaves at most an unfinished file, which `deleteExpired` deletes after an hour.
 * While the disk is full, `put` waits.
 */
export function createFolderOutputStore(folder: string): OutputStore {
  const unfinished = join(folder, UNFINISHED);
  const disk = new DiskSpace(folder);

  const putOnce = async (key: OutputKey, pdf: Uint8Array): Promise<void> => {
    const { hourFolder, path } = locate(folder, key);
    const draft = join(unfinished, randomUUID());
    try {
      await withFolder(unfinished, () => writeDurably(draft, pdf));
      await withFolder(hourFolder, () => rename(draft, path));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    await syncFolder(hourFolder);
  };

  return {
    put: (key, pdf, signal) => disk.whenThereIsRoom(() => putOnce(key, pdf), signal),

    problem: () => disk.problem(),

    async get(key) {
      const handle = await openIfThere(locate(folder, key).path);
      if (handle === undefined) return undefined;
      const { size } = await handle.stat();
      // The open file can be read to its end even when it is deleted.
      return { size, stream: handle.createReadStream() };
    },

    async delete(...keys) {
      for (const key of keys) await rm(locate(folder, key).path, { force: true });
    },

    async deleteExpired(now) {
      let deleted = 0;
      for (const hour of await expiredHours(folder, now)) deleted += await deleteHour(join(folder, hour));
      await deleteAbandoned(unfinished, now);
      return deleted;
    },
  };
}

/** @throws RangeError for a key that `outputKey` cannot have made: no other key may name a file. */
function locate(folder: string, key: OutputKey): { hourFolder: string; path: string } {
  const groups = KEY.exec(key)?.groups;
  if (groups === undefined) throw new RangeError('Not a key of an output.');
  const hourFolder = join(folder, groups.hour!);
  return { hourFolder, path: join(hourFolder, groups.name!) };
}

/** Runs work that needs a folder, which nearly always exists; makes the folder when it is missing. */
async function withFolder(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isMissing(error)) throw error;
    await makeFolder(path);
    await work();
  }
}

/** A new folder is on the disk when its parent folder is synced. */
async function makeFolder(path: string): Promise<void> {
  const firstMade = await mkdir(path, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  await syncFolder(dirname(path));
  if (firstMade !== path) await syncFolder(dirname(firstMade));
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function openIfThere(path: string) {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Folders of hours that have ended; everything else in the folder belongs to others and is left alone. */
async function expiredHours(folder: string, now: Date): Promise<string[]> {
  const entries = await ifThere(readdir(folder, { withFileTypes: true }), []);
  return entries
    .filter((entry) => entry.isDirectory() && HOUR_FOLDER.test(entry.name))
    .map((entry) => entry.name)
    .filter((hour) => Number(hour) * HOUR_MS < now.getTime());
}

async function deleteHour(hourFolder: string): Promise<number> {
  const names = (await ifThere(readdir(hourFolder), [])).filter((name) => FILE.test(name));
  for (const name of names) await rm(join(hourFolder, name), { force: true });
  // Fails, as it should, when the folder contains files of others.
  await rmdir(hourFolder).catch(() => {});
  return names.length;
}

async function deleteAbandoned(unfinished: string, now: Date): Promise<void> {
  for (const name of await ifThere(readdir(unfinished), [])) {
    const path = join(unfinished, name);
    const written = await ifThere(stat(path), undefined);
    if (written !== undefined && written.mtimeMs < now.getTime() - ABANDONED_AFTER_MS) {
      await rm(path, { force: true });
    }
  }
}

async function ifThere<Value, Otherwise>(
  found: Promise<Value>,
  otherwise: Otherwise,
): Promise<Value | Otherwise> {
  try {
    return await found;
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
