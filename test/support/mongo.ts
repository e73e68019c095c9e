import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import {
  type EmbeddedDatabase,
  startEmbeddedDatabase,
} from '../../src/infra/embedded-database/start-embedded.ts';

export interface TestDatabase {
  /** Connection string with a database of this caller's own, empty. */
  readonly uri: string;
}

let server: Promise<EmbeddedDatabase> | undefined;

/**
 * A fresh database on the one server that all tests of this process share. The server is stopped by the root hook
 * below when the tests are over, and ends with the process in any case.
 */
export async function startMongo(): Promise<TestDatabase> {
  server ??= startServer();
  const { uri } = await server;
  return { uri: uri.replace(/\/platen\b/, `/test_${randomBytes(6).toString('hex')}`) };
}

/** Suspends the server that all tests share, and lets it continue: it accepts connections, and responds to nothing. */
export async function suspendMongo(): Promise<() => void> {
  const { pid } = await (server ?? Promise.reject(new Error('There is no database yet.')));
  process.kill(pid, 'SIGSTOP');
  return () => void process.kill(pid, 'SIGCONT');
}

let folder: string | undefined;
let closing = false;

async function startServer(): Promise<EmbeddedDatabase> {
  folder = await mkdtemp(join(tmpdir(), 'platen-test-db-'));
  const database = await startEmbeddedDatabase({
    dataDir: folder,
    logger: pino({ level: 'error' }),
    // Whatever else this machine has: the same for everybody.
    engine: 'mongo-java-server',
    jarsDir: process.env.PLATEN_EMBEDDED_JARS,
  });
  // Everything after it fails then, and the first failure does not say why.
  void database.ended.then((how) => {
    if (!closing)
      console.error(`the database of the tests has ended with ${how}: ${database.problem() ?? ''}`);
  });
  return database;
}

/** Stops the server, if there is one: for programs outside mocha that have to end by themselves. */
export async function stopMongo(): Promise<void> {
  closing = true;
  await (await server)?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}

// A root hook: mocha runs it after the last test of the last file.
if (typeof after === 'function') after(stopMongo);
