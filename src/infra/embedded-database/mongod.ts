import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import { isExecutable, onPath } from '../machine/find-executable.ts';
import { PACKAGE_FOLDER } from '../machine/package-folder.ts';
import { type EmbeddedDatabase, EmbeddedDatabaseError, startError } from './embedded-database.ts';
import { startWatched } from './guarded-process.ts';
import { type InstallerRun, runInstaller, type SilenceLimits } from './installer.ts';
import { makePrivateSocket, type PrivateSocket, removeDeadSockets } from './private-socket.ts';

/** The version to download; scripts/mongod-archives.json has the checksums of its archives. */
export const FETCHED_VERSION = '8.0.32';
/**
 * Where MongoDB's downloads cannot be reached, the attempt must not delay the start noticeably. Later, half a minute
 * without a byte means that no more bytes will come.
 */
const SILENCE: SilenceLimits = { firstMs: 2000, laterMs: 30_000 };
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/** Options of the download. */
export interface FetchOptions extends Pick<InstallerRun, 'report' | 'environment'> {
  /** The folder with a subfolder for each version; default .cache/mongod in the package's folder. */
  readonly folder?: string;
  readonly limits?: SilenceLimits;
  /** The file with the SHA-256 of each archive by its name; default scripts/mongod-archives.json. */
  readonly checksums?: string;
}

/** The path of the mongod that was downloaded before; undefined when there is none. */
export function fetchedMongod(folder = defaultFolder()): string | undefined {
  const file = join(folder, FETCHED_VERSION, 'mongod');
  return isExecutable(file) ? file : undefined;
}

/**
 * Downloads MongoDB's own server. Takes as long as the network needs; gives up within seconds when no server responds.
 *
 * @returns its path.
 * @throws EmbeddedDatabaseError when it cannot be downloaded, or its checksum is wrong.
 */
export async function fetchMongod(options: FetchOptions): Promise<string> {
  const { folder = defaultFolder(), limits = SILENCE, checksums, report, environment } = options;
  if (!existsSync(INSTALLER)) throw new EmbeddedDatabaseError('not on PATH');
  const args = [FETCHED_VERSION, join(folder, FETCHED_VERSION), ...(checksums ? [checksums] : [])];
  await runInstaller(INSTALLER, args, { report, limits, ...(environment && { environment }) });
  const file = fetchedMongod(folder);
  if (file === undefined) throw new EmbeddedDatabaseError(`${INSTALLER} has left nothing that can be run`);
  return file;
}

const INSTALLER = join(PACKAGE_FOLDER, 'scripts', 'install-mongod.mjs');

function defaultFolder(): string {
  return join(PACKAGE_FOLDER, '.cache', 'mongod');
}

/** The path of the mongod on PATH, or undefined. */
export function findMongod(): string | undefined {
  return onPath(['mongod'], process.env.PATH);
}

/** mongod names its socket by a port, which it does not listen on; there is one socket in a folder. */
const SOCKET = 'mongodb-27017.sock';

/** A mongod on a private socket. @throws EmbeddedDatabaseError with its last output when it does not start. */
export async function startMongod(program: string, folder: string): Promise<EmbeddedDatabase> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const socket = await makePrivateSocket(SOCKET, folder);
  try {
    return await startOn(socket, program, folder);
  } catch (error) {
    await socket.remove();
    throw error;
  }
}

async function startOn(socket: PrivateSocket, program: string, folder: string): Promise<EmbeddedDatabase> {
  const process = await startWatched(program, [
    ...['--dbpath', resolve(folder), '--wiredTigerCacheSizeGB', '0.25', '--quiet'],
    // An address that begins with a slash is that of a socket, and it is the only one.
    ...['--bind_ip', socket.path, '--port', '27017', '--unixSocketPrefix', dirname(socket.path)],
    ...['--filePermissions', '0600'],
  ]);
  let exit: number | string | undefined;
  void process.ended.then((code) => {
    exit = code;
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (exit === undefined && performance.now() < deadline) {
    if (await responses(socket.uri)) {
      await removeDeadSockets(folder, SOCKET);
      return {
        uri: socket.uri,
        kind: 'mongod',
        pid: process.pid,
        ended: process.ended,
        // mongod ends when it cannot write.
        problem: () => undefined,
        writesBehind: false,
        async close() {
          await process.stop();
          await socket.remove();
        },
      };
    }
    await sleep(POLL_MS);
  }
  await process.stop();
  if (/DBPathInUse|already in use|Resource temporarily unavailable/.test(process.output.stdout)) {
    throw new EmbeddedDatabaseError(`The data folder ${folder} is in use by another mongod.`, {
      inUse: true,
    });
  }
  throw startError(
    `mongod did not start (${exit ?? 'no response in time'}): ${process.output.stdout.trim().slice(-1000)}`,
  );
}

async function responses(uri: string): Promise<boolean> {
  const client = new mongoose.mongo.MongoClient(uri, {
    directConnection: true,
    serverSelectionTimeoutMS: 1000,
  });
  try {
    await client.db('admin').command({ ping: 1 });
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}
