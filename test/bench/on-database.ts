import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Pool } from 'undici';
import type { EmbeddedDatabase } from '../../src/infra/embedded-database/embedded-database.ts';
import { startEmbeddedDatabase } from '../../src/infra/embedded-database/start-embedded.ts';
import { makeAccounts } from './callers.ts';
import { openAlone, type Subject } from './subjects.ts';

/** Measures on an empty database, which ends with the measurement. */
export async function onDatabase<Result>(
  measure: (database: EmbeddedDatabase) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-bench-database-'));
  const database = await startEmbeddedDatabase({ dataDir: folder, logger: pino({ level: 'silent' }) });
  try {
    return await measure(database);
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

export interface StandaloneBench {
  readonly subject: Subject;
  readonly pool: Pool;
  /** One for each account. */
  readonly keys: readonly string[];
  readonly database: EmbeddedDatabase;
}

/**
 * Measures `platen standalone` on such a database.
 *
 * @param accounts how many there are, each with one key.
 * @param connections to the service at a time.
 * @param settings of the service, besides its defaults.
 */
export function onStandalone(
  accounts: number,
  connections: number,
  measure: (bench: StandaloneBench) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  return onDatabase(async (database) => {
    const emails = Array.from({ length: accounts }, (_, i) => `account-${i}@example.com`);
    const keys = await makeAccounts(database.uri, emails);
    const subject = await openAlone(database.uri, settings);
    const pool = new Pool(subject.url, { connections, headersTimeout: 120_000 });
    try {
      await measure({ subject, pool, keys, database });
    } finally {
      await pool.close();
      await subject.close();
    }
  });
}
