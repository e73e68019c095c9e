import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';
import { isExecutable, onPath } from '../../find-executable.ts';
import { type EmbeddedDatabase, EmbeddedDatabaseError } from './embedded-database.ts';
import { startWatched } from './guarded-process.ts';
import { type InstallerRun, runInstaller, type SilenceLimits } from './installer.ts';

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

/** In the package's folder, whether the code runs from src/ or from dist/. */
const INSTALLER = fileURLToPath(new URL('../../../scripts/install-mongod.mjs', import.meta.url));

function defaultFolder(): string {
  return fileURLToPath(new URL('../../../.cache/mongod', import.meta.url));
}

/** The path of the mongod on PATH, or undefined. */
export function findMongod(): string | undefined {
  return onPath(['mongod'], process.env.PATH);
}

/**
 * Starts a mongod on a free loopback port, with its data in `folder`.
 *
 * @throws EmbeddedDatabaseError with its last output when it does not start.
 */
export async function startMongod(program: string, folder: string): Promise<EmbeddedDatabase> {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const process = await startWatched(program, [
    ...['--dbpath', resolve(folder), '--port', String(port), '--bind_ip', '127.0.0.1'],
    ...['--wiredTigerCacheSizeGB', '0.25', '--quiet'],
  ]);
  const server = `mongodb://127.0.0.1:${port}/`;
  let exit: number | string | undefined;
  void process.ended.then((code) => {
    exit = code;
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (exit === undefined && performance.now() < deadline) {
    if (await responses(server)) {
      return {
        uri: `${server}platen?directConnection=true`,
        kind: 'mongod',
        pid: process.pid,
        ended: process.ended,
        // mongod ends when it cannot write.
        problem: () => undefined,
        close: () => process.stop(),
      };
    }
    await sleep(POLL_MS);
  }
  await process.stop();
  if (/DBPathInUse|already in use|Resource temporarily unavailable/.test(process.output.stdout)) {
    throw new EmbeddedDatabaseError(`The data folder ${folder} is in use by another mongod.`, true);
  }
  throw new EmbeddedDatabaseError(
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

/** A port that was free a moment ago, because mongod cannot choose one and report it. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}
