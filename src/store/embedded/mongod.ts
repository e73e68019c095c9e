import { accessSync, constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import { type EmbeddedDatabase, EmbeddedDatabaseError } from './embedded-database.ts';
import { startWatched } from './guarded-process.ts';

const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/** Path of the mongod on PATH, or undefined. */
export function findMongod(path = process.env.PATH ?? ''): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'mongod'))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts a mongod on a free loopback port over `folder`.
 *
 * @throws EmbeddedDatabaseError when it does not come up, with the last it wrote.
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
    if (await answers(server)) {
      return {
        uri: `${server}platen?directConnection=true`,
        kind: 'mongod',
        pid: process.pid,
        ended: process.ended,
        // It ends by itself when it cannot write.
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
    `mongod did not start (${exit ?? 'no answer in time'}): ${process.output.stdout.trim().slice(-1000)}`,
  );
}

async function answers(uri: string): Promise<boolean> {
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

/** A port that was free a moment ago: mongod has no way to choose one and tell. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}
