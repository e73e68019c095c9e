import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../../telemetry/logger.ts';
import { type EmbeddedDatabase, EmbeddedDatabaseError } from './embedded-database.ts';
import { findJava, installationProblem, startMongoJavaServer } from './mongo-java-server.ts';
import { findMongod, startMongod } from './mongod.ts';

export { type EmbeddedDatabase, EmbeddedDatabaseError } from './embedded-database.ts';

/** A predecessor that lost its parent a moment ago may still be writing. */
const LOCK_WAIT_MS = 5000;

export interface EmbeddedDatabaseOptions {
  /** Folder of the database's files; made when missing. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Where scripts/install-peers.mjs has put mongo-java-server; default .cache/peers/mongo-java-server. */
  readonly jarsDir?: string | undefined;
  /** How long another process's lock on the data gets to go away, in milliseconds; 5000 unless said otherwise. */
  readonly lockWaitMs?: number | undefined;
}

interface Candidate {
  readonly kind: EmbeddedDatabase['kind'];
  /** Why it cannot be used here, or undefined. */
  readonly obstacle: string | undefined;
  start(folder: string): Promise<EmbeddedDatabase>;
}

/**
 * Starts a database beside this process: a `mongod` when there is one on PATH, otherwise mongo-java-server. Each has
 * a folder of its own under `dataDir`; data that is there already decides which one it is. The database ends when
 * this process does, however that happens.
 *
 * @throws EmbeddedDatabaseError when the data folder is in use, or nothing could be started.
 */
export async function startEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  const { dataDir, logger } = options;
  const { jarsDir = defaultJarsDir(), lockWaitMs = LOCK_WAIT_MS } = options;
  const candidates = listCandidates(jarsDir, lockWaitMs, logger);
  const withData = candidates.filter((candidate) => existsSync(join(dataDir, candidate.kind)));
  const obstacles: string[] = [];
  for (const { kind, obstacle, start } of withData.length > 0 ? withData : candidates) {
    const folder = join(dataDir, kind);
    try {
      if (obstacle !== undefined) throw new EmbeddedDatabaseError(obstacle);
      const began = performance.now();
      const database = await start(folder);
      const startMs = Math.round(performance.now() - began);
      logger.info({ kind, pid: database.pid, startMs }, 'embedded database started');
      return database;
    } catch (error) {
      if (!(error instanceof EmbeddedDatabaseError)) throw error;
      // Data that cannot be opened is no reason to begin again with none.
      if (withData.length > 0 && obstacle === undefined) throw error;
      if (withData.length === 0) await rm(folder, { recursive: true, force: true });
      obstacles.push(`${kind}: ${error.message}`);
    }
  }
  const kept = withData.length > 0 ? ` The data in ${dataDir} can be read by nothing else.` : '';
  throw new EmbeddedDatabaseError(
    `No embedded database can be started (${obstacles.join('; ')}).${kept} Set MONGODB_URI to use a MongoDB server.`,
  );
}

function listCandidates(jarsDir: string, lockWaitMs: number, logger: Logger): readonly Candidate[] {
  const mongod = findMongod();
  const java = findJava();
  return [
    {
      kind: 'mongod',
      obstacle: mongod === undefined ? 'not on PATH' : undefined,
      start: (folder) => startMongod(mongod!, folder),
    },
    {
      kind: 'mongo-java-server',
      obstacle: javaServerObstacle(java, jarsDir),
      start: (folder) => startMongoJavaServer({ folder, jarsDir, java: java!, lockWaitMs, logger }),
    },
  ];
}

function javaServerObstacle(java: string | undefined, jarsDir: string): string | undefined {
  const problem = installationProblem(jarsDir);
  if (problem !== undefined) return problem;
  return java === undefined
    ? 'needs Java 17 or newer, and there is no java on PATH nor in JAVA_HOME'
    : undefined;
}

/** Beside the package, whether it runs from src/ or from dist/. */
function defaultJarsDir(): string {
  return fileURLToPath(new URL('../../../.cache/peers/mongo-java-server', import.meta.url));
}
