import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isExecutable, onPath } from '../machine/find-executable.ts';
import type { Logger } from '../telemetry/logger.ts';
import { archiveToUse, makeClassArchive } from './class-archive.ts';
import { type EmbeddedDatabase, EmbeddedDatabaseError, startError } from './embedded-database.ts';
import { type GuardedProcess, startGuarded } from './guarded-process.ts';
import { type LauncherResponse, parseResponse } from './launcher-response.ts';
import { makePrivateSocket, type PrivateSocket, removeDeadSockets } from './private-socket.ts';

/** Milliseconds. A cold machine starts it in 2 s; the rest is for a busy machine. */
const START_TIMEOUT_MS = 60_000;
const SOCKET = 'database.sock';
/** Lines of the JVM itself that are logged, so that endless complaints cannot fill the log. */
const MAX_FOREIGN_LINES = 100;

/**
 * The required content of peers/mongo-java-server/launcher.version. To be raised with every change of the messages
 * between launcher and Platen, and of declared collections that an older launcher does not support.
 */
const LAUNCHER_VERSION = '4';

interface MongoJavaServerOptions {
  /** Folder of the database file; made when missing. */
  readonly folder: string;
  /** The folder in which scripts/install-peers.mjs has put the jars. */
  readonly jarsDir: string;
  /** The `java` program to run. */
  readonly java: string;
  /** How long to wait for a lock on the file to be released, in milliseconds. */
  readonly lockWaitMs: number;
  readonly logger: Logger;
}

/** Why the server cannot be started from this folder; undefined when it can. */
export function installationProblem(jarsDir: string): string | undefined {
  const remedy = '`node scripts/install-peers.mjs mongo-java-server`';
  if (!existsSync(join(jarsDir, 'java.args'))) return `not in ${jarsDir}; ${remedy} puts it there`;
  const path = join(jarsDir, 'launcher.version');
  const version = existsSync(path) ? readFileSync(path, 'utf8').trim() : '1';
  if (version === LAUNCHER_VERSION) return undefined;
  return `${jarsDir} is of another version of Platen; ${remedy} renews it`;
}

/** The `java` on PATH, or else the one of JAVA_HOME; undefined when there is none. */
export function findJava(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const { PATH, JAVA_HOME } = environment;
  const ofHome = JAVA_HOME ? [join(JAVA_HOME, 'bin', 'java')] : [];
  return onPath(['java'], PATH) ?? ofHome.find(isExecutable);
}

/** @throws EmbeddedDatabaseError when another process has the file open, or the server does not start. */
export async function startMongoJavaServer(options: MongoJavaServerOptions): Promise<EmbeddedDatabase> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const socket = await makePrivateSocket(SOCKET, options.folder);
  try {
    return await startOn(socket, options);
  } catch (error) {
    await socket.remove();
    throw error;
  }
}

async function startOn(socket: PrivateSocket, options: MongoJavaServerOptions): Promise<EmbeddedDatabase> {
  const { folder, jarsDir, java, logger } = options;
  const archive = await archiveToUse(jarsDir);
  let launched = await launch(options, socket, archive?.flags ?? []);
  if (launched.first.kind === 'ended' && archive !== undefined) {
    logger.warn(
      { how: launched.first.how },
      'the embedded database ended at its start; once more without archive',
    );
    launched = await launch(options, socket, []);
  }
  const { process, first, jvm, problem } = launched;
  if (first.kind !== 'listening') throw await startFailure(options, process, first);
  await removeDeadSockets(folder, SOCKET);
  const fits = archive !== undefined && archive.jvm === jvm();
  if (!fits) renewArchive(java, jarsDir, logger);
  return {
    uri: socket.uri,
    kind: 'mongo-java-server',
    pid: process.pid,
    ended: process.ended,
    problem,
    writesBehind: true,
    async close() {
      await process.stop();
      await socket.remove();
    },
  };
}

type FirstResponse =
  | LauncherResponse
  | { readonly kind: 'ended'; readonly how: number | string }
  | { readonly kind: 'silent' };

async function launch(
  options: MongoJavaServerOptions,
  socket: PrivateSocket,
  archiveFlags: readonly string[],
) {
  const { folder, jarsDir, java, lockWaitMs, logger } = options;
  const file = databaseFile(folder);
  const flags = ['@java.args', ...archiveFlags, `-XX:ErrorFile=${resolve(folder)}/hs_err_%p.log`];
  const args = [...flags, 'EmbeddedDatabase', file, String(lockWaitMs), socket.path];
  const process = await startGuarded(java, args, { cwd: jarsDir }).catch((error: Error) => {
    throw startError(`Java could not be started: ${error.message}`);
  });
  let jvm: string | undefined;
  let problem: string | undefined;
  const first = new Promise<FirstResponse>((decide) => {
    const timer = setTimeout(() => decide({ kind: 'silent' }), START_TIMEOUT_MS);
    // When a process ends, not all of its lines have arrived, so its pipes are read to their end first.
    void process.closed.then((how) => decide({ kind: 'ended', how })).then(() => clearTimeout(timer));
    process.onLine(
      listener(logger, (response) => {
        if (response.kind === 'jvm') {
          jvm = response.name;
          return;
        }
        if (response.kind === 'waiting') {
          const what = /no space|quota/i.test(response.reason) ? 'disk full' : 'database';
          problem = `${what}: ${file} cannot be written: ${response.reason}`;
          logger.error(
            { file, reason: response.reason },
            'the embedded database cannot write; it goes on trying',
          );
          return;
        }
        if (response.kind === 'written') {
          problem = undefined;
          logger.info({ file }, 'the embedded database can write again');
          return;
        }
        if (response.kind === 'failed') {
          logger.error({ file, reason: response.reason }, 'the embedded database has failed');
        }
        clearTimeout(timer);
        decide(response);
      }),
    );
  });
  return { process, first: await first, jvm: () => jvm, problem: () => problem };
}

/** Passes the launcher's responses on; output of other code, mostly the JVM, is only logged. */
function listener(logger: Logger, onResponse: (response: LauncherResponse) => void) {
  let foreign = 0;
  return (line: string, stream: 'stdout' | 'stderr') => {
    const response = stream === 'stdout' ? parseResponse(line) : undefined;
    if (response !== undefined) {
      onResponse(response);
      return;
    }
    if (line.trim() === '') return;
    foreign += 1;
    if (foreign <= MAX_FOREIGN_LINES) logger.info({ line }, 'the JVM of the embedded database says');
  };
}

async function startFailure(
  { folder, java }: MongoJavaServerOptions,
  process: GuardedProcess,
  first: FirstResponse,
): Promise<EmbeddedDatabaseError> {
  await process.stop();
  const file = databaseFile(folder);
  if (first.kind === 'locked') {
    const holder = await readFile(`${file}.pid`, 'utf8').catch(() => 'unknown');
    return new EmbeddedDatabaseError(
      `The data folder ${folder} is in use by another database process (process ${holder}): end what has started it, or set PLATEN_DATA_DIR to another folder.`,
      { inUse: true },
    );
  }
  if (first.kind === 'failed') {
    return startError(`The database file ${file} cannot be opened: ${first.reason}`);
  }
  const { stdout, stderr } = process.output;
  if (stderr.includes('UnsupportedClassVersionError')) {
    return new EmbeddedDatabaseError(`${java} is too old: the embedded database needs Java 17 or newer.`);
  }
  const how =
    first.kind === 'ended' ? `Java ended with ${first.how}` : `no response in ${START_TIMEOUT_MS / 1000} s`;
  const said = `${stderr}\n${stdout}`.trim().split('\n')[0];
  return startError(`The embedded database did not start (${how}${said ? `: ${said}` : ''}).`);
}

/** Makes the archive for faster starts in the background; no start waits for it, and Platen runs without it. */
function renewArchive(java: string, jarsDir: string, logger: Logger): void {
  makeClassArchive(java, jarsDir).then(
    () => logger.info({ jarsDir }, 'class archive of the embedded database made anew'),
    (error: Error) =>
      logger.info({ jarsDir, reason: error.message }, 'no class archive: starts of the database take longer'),
  );
}

function databaseFile(folder: string): string {
  return resolve(folder, 'database.mv');
}
