import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../machine/package-folder.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type EmbeddedDatabase, EmbeddedDatabaseError } from './embedded-database.ts';
import type { Engine, EngineChoice } from './engines.ts';
import { runInstaller } from './installer.ts';
import { findJava, installationProblem, startMongoJavaServer } from './mongo-java-server.ts';
import { type FetchOptions, fetchedMongod, fetchMongod, findMongod, startMongod } from './mongod.ts';

export { type EmbeddedDatabase, EmbeddedDatabaseError } from './embedded-database.ts';

/** In milliseconds: a previous database that has just lost its parent may still be writing. */
const LOCK_WAIT_MS = 5000;

interface EmbeddedDatabaseOptions {
  /** Folder of the database's files; made when missing. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Default auto: the engine that wrote the data or, without data, the first one that is available. */
  readonly engine?: EngineChoice | undefined;
  /** Where scripts/install-peers.mjs has put mongo-java-server; default .cache/peers/mongo-java-server. */
  readonly jarsDir?: string | undefined;
  /** Downloads a missing engine, and reports the progress to a person; without it nothing is downloaded. */
  readonly fetch?: FetchOptions | undefined;
  /** How long to wait for another process to release its lock on the data, in milliseconds; default 5000. */
  readonly lockWaitMs?: number | undefined;
}

interface Candidate {
  readonly kind: Engine;
  /** @returns what starts the engine. @throws EmbeddedDatabaseError when it cannot be used here. */
  prepare(): Promise<(folder: string) => Promise<EmbeddedDatabase>>;
}

/**
 * Starts a database for this process: a `mongod` if there is one on PATH or it can be downloaded, otherwise
 * mongo-java-server. Each engine has its own folder under `dataDir`; existing data determines the engine. The database
 * ends when this process ends, however that happens.
 *
 * @throws EmbeddedDatabaseError when the data folder is in use, or no engine could be started.
 */
export async function startEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  const { dataDir, logger, engine = 'auto' } = options;
  const all = [mongodCandidate(options), javaServerCandidate(options)];
  const withData = all.filter(({ kind }) => existsSync(join(dataDir, kind)));
  const chosen = choose(engine, all, withData, dataDir);
  const obstacles: string[] = [];
  let solution: string | undefined;
  for (const [index, { kind, prepare }] of chosen.entries()) {
    const folder = join(dataDir, kind);
    let prepared = false;
    try {
      const start = await prepare();
      prepared = true;
      const began = performance.now();
      const database = await start(folder);
      const startMs = Math.round(performance.now() - began);
      logger.info({ kind, pid: database.pid, startMs }, 'embedded database started');
      return database;
    } catch (error) {
      if (!(error instanceof EmbeddedDatabaseError)) throw error;
      // If existing data cannot be opened, no other engine may start with an empty folder.
      if (withData.length > 0 && prepared) throw error;
      if (withData.length === 0) await rm(folder, { recursive: true, force: true });
      obstacles.push(`${kind}: ${error.message}`);
      solution ??= error.remedy;
      const next = chosen[index + 1];
      if (next !== undefined)
        options.fetch?.report(`No ${kind} (${error.message}): ${next.kind} is tried instead`);
    }
  }
  throw new EmbeddedDatabaseError(
    `No embedded database can be started (${obstacles.join('; ')}). ${solution ?? remedy(dataDir, withData)}`,
  );
}

/** @throws EmbeddedDatabaseError when the data was written by another engine than the requested one. */
function choose(
  engine: EngineChoice,
  all: readonly Candidate[],
  withData: readonly Candidate[],
  dataDir: string,
): readonly Candidate[] {
  if (engine === 'auto') return withData.length > 0 ? withData : all;
  const [other] = withData;
  if (other !== undefined && !withData.some(({ kind }) => kind === engine)) {
    throw new EmbeddedDatabaseError(
      `The data in ${dataDir} was written by ${other.kind}, and ${engine} cannot read it: unset PLATEN_EMBEDDED, or set PLATEN_DATA_DIR to another folder.`,
    );
  }
  return all.filter(({ kind }) => kind === engine);
}

function remedy(dataDir: string, [kept]: readonly Candidate[]): string {
  const ways: Readonly<Record<Engine, string>> = {
    mongod: "put MongoDB's mongod on PATH, or have its downloads reached",
    'mongo-java-server': 'install a JDK (Java 17 or newer) and Maven',
  };
  if (kept !== undefined)
    return `The data in ${dataDir} can be read by nothing else than ${kept.kind}: ${ways[kept.kind]}.`;
  return `There are three ways out: ${ways.mongod}; ${ways['mongo-java-server']}; or set MONGODB_URI to a MongoDB server.`;
}

function mongodCandidate({ fetch }: EmbeddedDatabaseOptions): Candidate {
  return {
    kind: 'mongod',
    async prepare() {
      const there = findMongod() ?? fetchedMongod(fetch?.folder);
      if (there === undefined && fetch === undefined) throw new EmbeddedDatabaseError('not on PATH');
      const program = there ?? (await fetchMongod(fetch!));
      return (folder) => startMongod(program, folder);
    },
  };
}

function javaServerCandidate(options: EmbeddedDatabaseOptions): Candidate {
  const { lockWaitMs = LOCK_WAIT_MS, logger, fetch } = options;
  return {
    kind: 'mongo-java-server',
    async prepare() {
      // Another folder is kept up to date by the person who set it up.
      if (options.jarsDir === undefined && fetch !== undefined && existsSync(JAVA_INSTALLER))
        await runInstaller(JAVA_INSTALLER, ['mongo-java-server'], { report: fetch.report });
      const jarsDir = options.jarsDir ?? DEFAULT_JARS_DIR;
      const problem = installationProblem(jarsDir);
      if (problem !== undefined) throw new EmbeddedDatabaseError(problem);
      const java = findJava();
      if (java === undefined)
        throw new EmbeddedDatabaseError(
          'needs Java 17 or newer, and there is no java on PATH nor in JAVA_HOME',
        );
      return (folder) => startMongoJavaServer({ folder, jarsDir, java, lockWaitMs, logger });
    },
  };
}

/** In the package's folder, whether the code runs from src/ or from dist/. */
const JAVA_INSTALLER = join(PACKAGE_FOLDER, 'scripts', 'install-peers.mjs');
const DEFAULT_JARS_DIR = join(PACKAGE_FOLDER, '.cache', 'peers', 'mongo-java-server');
