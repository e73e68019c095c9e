import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { systemClock } from '../../clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { FutureTimes } from '../future-times.ts';
import { migrateToLayout2 } from './migrate-to-2.ts';
import { migrateToLayout3 } from './migrate-to-3.ts';

/** The layout of the data that this version reads and writes. It grows with every change that breaks older versions. */
export const LAYOUT = 3;

/** Turns the layout before into this one. Repeated after a crash in the middle, it has the same result. */
type Migration = (connection: Connection) => Promise<unknown>;
const MIGRATIONS: Readonly<Record<number, Migration>> = { 2: migrateToLayout2, 3: migrateToLayout3 };

/** The data cannot be worked with by this version of Platen; the message says what to do. */
export class LayoutError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LayoutError';
  }
}

interface LayoutRecord {
  readonly _id: 'layout';
  readonly version: number;
  /** Set while a process migrates: when that process will have given up, in epoch milliseconds. */
  readonly migratingUntil?: number;
}

/** The longest that a migration may take, in milliseconds; another process repeats it after that. */
const MIGRATION_MS = 10 * 60_000;
const POLL_MS = 250;

/**
 * Brings the data to this version's layout: marks an empty database, migrates an older one, and rejects a newer one. Of
 * several processes that start at once one migrates, and the others wait for it.
 *
 * @throws LayoutError
 */
export async function checkLayout(connection: Connection, logger: Logger): Promise<void> {
  const records = connection.collection<LayoutRecord>('layout');
  const times = new FutureTimes(systemClock, { logger });
  for (;;) {
    const record = await records.findOne({ _id: 'layout' });
    if (record === null) {
      const version = (await isEmpty(connection)) ? LAYOUT : 1;
      // Another process may have made the mark at the same moment.
      await records.insertOne({ _id: 'layout', version }).catch(() => undefined);
      continue;
    }
    if (record.version === LAYOUT) return;
    if (record.version > LAYOUT) {
      throw new LayoutError(
        `The data was written by a newer Platen (layout ${record.version}); this one knows layouts up to ${LAYOUT}. ` +
          'Start the newer version, or restore the backup from before the upgrade.',
      );
    }
    if (record.migratingUntil !== undefined && !times.isOver('layout', record.migratingUntil, MIGRATION_MS)) {
      await sleep(POLL_MS);
      continue;
    }
    const mine = Date.now() + MIGRATION_MS;
    const begun = await records.findOneAndUpdate(
      { _id: 'layout', version: record.version, migratingUntil: record.migratingUntil ?? { $exists: false } },
      { $set: { migratingUntil: mine } },
    );
    if (begun === null) continue;
    await migrate(connection, record.version, logger);
  }
}

async function migrate(connection: Connection, from: number, logger: Logger): Promise<void> {
  const records = connection.collection<LayoutRecord>('layout');
  const to = from + 1;
  const migration = MIGRATIONS[to];
  if (migration === undefined) {
    throw new LayoutError(
      `The data has layout ${from}, which this version cannot take over. Start a version in between first.`,
    );
  }
  logger.info({ from, to }, 'the data is migrated');
  try {
    await migration(connection);
    await records.updateOne({ _id: 'layout' }, { $set: { version: to }, $unset: { migratingUntil: '' } });
  } catch (error) {
    await records.updateOne({ _id: 'layout' }, { $unset: { migratingUntil: '' } }).catch(() => undefined);
    throw error;
  }
  logger.info({ layout: to }, 'the data has been migrated');
}

/** Whether nothing of Platen is in the database. Every layout before the numbered ones held accounts or keys. */
async function isEmpty(connection: Connection): Promise<boolean> {
  for (const name of ['accounts', 'jobs', 'job_history', 'quotas', 'api_keys']) {
    if ((await connection.collection(name).findOne({})) !== null) return false;
  }
  return true;
}
