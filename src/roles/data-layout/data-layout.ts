import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import { unlessAborted } from '../../infra/async/unless-aborted.ts';
import { CLOCK_SKEW_MS } from '../../infra/store/future-times.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';

/** The layout of the data that this version reads and writes. It grows with every change that breaks older versions. */
export const LAYOUT = 4;

/** How far a migration has come, for the log: counts, named by what they count. */
export type Progress = Readonly<Record<string, number>>;

/** Turns the layout before into the next one. Repeated after a crash in the middle, it has the same result. */
export type Migration = (connection: Connection, report: (progress: Progress) => void) => Promise<void>;

/** By the layout that each results in. There is none yet: no older layout was ever published. */
const MIGRATIONS: Readonly<Record<number, Migration>> = {};

/** The data cannot be worked with by this version of Platen; the message says what to do. */
export class LayoutError extends Error {
  override readonly name = 'LayoutError';
}

interface LayoutRecord {
  readonly _id: 'layout';
  readonly version: number;
  /** Set while a process migrates, which renews it: when its lease ends, in epoch milliseconds. */
  readonly migratingUntil?: number;
  readonly migratingBy?: string;
}

/** The lease of a process that migrates, and how often it is renewed; in milliseconds. */
const LEASE_MS = 30_000;
const RENEW_MS = 5000;
const POLL_MS = 250;
/** The least time between two log lines about the same migration, in milliseconds. */
const REPORT_MS = 10_000;

/**
 * Brings the data to this version's layout: marks a new database, migrates an older one, and rejects a newer one and
 * one that no migration starts from. Of several processes that start at once one migrates, and the others wait for it.
 * Both is logged every ten seconds.
 *
 * @param signal ends the waiting and the migration at once. A migration that was under way goes on in another process, or at
 * the next start, when the lease has ended.
 * @param migrations by the layout that each results in.
 * @throws LayoutError, or the signal's reason.
 */
export async function checkLayout(
  connection: Connection,
  logger: Logger,
  signal: AbortSignal = new AbortController().signal,
  migrations: Readonly<Record<number, Migration>> = MIGRATIONS,
): Promise<void> {
  const records = connection.collection<LayoutRecord>('layout');
  const waiting = new Waiting(logger);
  for (;;) {
    signal.throwIfAborted();
    const record = await records.findOne({ _id: 'layout' });
    if (record === null) {
      // Every published version has made the mark. Another process may have made it at the same moment.
      await records.insertOne({ _id: 'layout', version: LAYOUT }).catch(() => undefined);
      continue;
    }
    if (record.version === LAYOUT) return;
    if (record.version > LAYOUT) {
      throw new LayoutError(
        `The data was written by a newer Platen (layout ${record.version}); this one knows layouts up to ${LAYOUT}. ` +
          'Start the newer version, or restore the backup from before the upgrade.',
      );
    }
    if (waiting.mustWait(record)) {
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      continue;
    }
    const migration = migrations[record.version + 1];
    if (migration === undefined) {
      throw new LayoutError(
        `The data was written by an older Platen (layout ${record.version}), and this one, with layout ${LAYOUT}, cannot take it over. ` +
          'Start a version in between first, or use an empty database.',
      );
    }
    const holder = `${hostname()}-${randomUUID().slice(0, 8)}`;
    const begun = await records.findOneAndUpdate(
      { _id: 'layout', version: record.version, migratingUntil: record.migratingUntil ?? { $exists: false } },
      { $set: { migratingUntil: Date.now() + LEASE_MS, migratingBy: holder } },
    );
    if (begun === null) continue;
    await migrate(connection, migration, { from: record.version, holder, logger, signal });
  }
}

/** Decides for how long a process waits for another one that migrates, and reports it. */
class Waiting {
  readonly #logger: Logger;
  #seen: { readonly until: number; readonly atMs: number } | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  mustWait({ version, migratingUntil, migratingBy }: LayoutRecord): boolean {
    if (migratingUntil === undefined) return false;
    if (this.#isUnrenewed(migratingUntil)) return false;
    if (performance.now() - this.#reportedMs >= REPORT_MS) {
      this.#reportedMs = performance.now();
      const until = new Date(migratingUntil).toISOString();
      this.#logger.info(
        { layout: version, by: migratingBy, until },
        `waiting for the migration of the data by ${migratingBy}, whose lease is until ${until}`,
      );
    }
    return true;
  }

  /** By this process's monotonic clock, unless the lease is long over: the clocks of two machines differ. */
  #isUnrenewed(until: number): boolean {
    if (Date.now() > until + CLOCK_SKEW_MS) return true;
    if (this.#seen?.until !== until) this.#seen = { until, atMs: performance.now() };
    return performance.now() - this.#seen.atMs >= LEASE_MS;
  }
}

interface Migrating {
  readonly from: number;
  readonly holder: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

async function migrate(
  connection: Connection,
  migration: Migration,
  { from, holder, logger, signal }: Migrating,
): Promise<void> {
  const records = connection.collection<LayoutRecord>('layout');
  const own = { _id: 'layout', migratingBy: holder } as const;
  const unmark = { migratingUntil: '', migratingBy: '' } as const;
  const to = from + 1;
  logger.info({ from, to, by: holder }, 'the data is migrated');
  const beganMs = performance.now();
  const seconds = () => Math.round((performance.now() - beganMs) / 1000);
  let progress = {};
  const renewing = setInterval(() => {
    records.updateOne(own, { $set: { migratingUntil: Date.now() + LEASE_MS } }).then(
      ({ matchedCount }) => {
        if (matchedCount === 0) logger.warn({ from, to, by: holder }, 'the lease of the migration is lost');
      },
      (err: unknown) => logger.warn({ err, from, to }, 'the lease of the migration was not renewed'),
    );
  }, RENEW_MS);
  const reporting = setInterval(() => {
    logger.info(
      { from, to, by: holder, seconds: seconds(), ...progress },
      'the data is still being migrated',
    );
  }, REPORT_MS);
  try {
    const report = (done: Progress) => {
      progress = done;
    };
    await unlessAborted(signal, migration(connection, report));
    // Without the lease it is the work of the process that has it now.
    const { matchedCount } = await records.updateOne(own, { $set: { version: to }, $unset: unmark });
    if (matchedCount > 0) logger.info({ layout: to, seconds: seconds() }, 'the data has been migrated');
  } catch (error) {
    // What was under way when the signal came may still be carried out: the mark stays until the lease ends.
    if (!signal.aborted) await records.updateOne(own, { $unset: unmark }).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(renewing);
    clearInterval(reporting);
  }
}
