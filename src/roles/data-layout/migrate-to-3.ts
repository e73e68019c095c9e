import type { Connection, mongo } from 'mongoose';
import type { Migration } from './migration.ts';

/*
 * In layout 2 each collection had its own names for the time at which a record is due and for its fence. Layout 3 has
 * the names of `src/infra/store/due-queue.ts` everywhere: `dueAt` and `fence`.
 */

/** Collections whose records were due at `due`; `version` was their fence, where they had one. */
const COLLECTIONS = ['mails', 'callback_deliveries', 'batch_care', 'batch_endings'];

/** In milliseconds. The longest lease of layout 2: that of mails. */
const LONGEST_LEASE_MS = 120_000;

interface Listed {
  readonly _id: string;
  readonly dueAt: Date;
}

/** The fields of a batch that the migration needs. */
interface OldBatch {
  readonly _id: string;
  readonly busy?: true;
  readonly busyUntil: Date;
  readonly purgeAt?: Date;
  readonly forgetAt?: Date;
}

export const migrateToLayout3: Migration = async (connection, report) => {
  report({ records: await renameDue(connection) });
  // Early versions of layout 2 had no lists of batches.
  await list(connection, 'batch_care', { busy: true }, ({ busyUntil }) => busyUntil);
  for (const field of ['purgeAt', 'forgetAt'] as const)
    await list(connection, 'batch_endings', { [field]: { $exists: true } }, (batch) => batch[field]);
};

/**
 * Renames the fields of records that are due, or will be after the longest lease; records that are not due are not
 * queried by these fields again. A record that is due in between may be under way: it is left to its holder, and a
 * later run renames it if the holder dies. Also for records that processes of the version before write during an
 * upgrade. Neither version finds the other's records, so nothing is done by both.
 *
 * @returns how many records were changed.
 */
export async function renameDue(connection: Connection, now = new Date()): Promise<number> {
  let changed = 0;
  for (const name of COLLECTIONS) {
    for (const due of [
      { $gt: new Date(0), $lte: now },
      { $gt: new Date(now.getTime() + LONGEST_LEASE_MS) },
    ]) {
      const records = connection.collection(name);
      const untouched = await records.updateMany(
        { due, fence: { $exists: false } },
        { $rename: { due: 'dueAt', version: 'fence' } },
      );
      // The version before has scheduled the record again after this one has had it: a fence never goes back.
      const rescheduled = await records.updateMany(
        { due },
        { $rename: { due: 'dueAt' }, $unset: { version: '' }, $inc: { fence: 1 } },
      );
      changed += untouched.modifiedCount + rescheduled.modifiedCount;
    }
  }
  // It listed the callbacks that were due, and held nothing else than they do.
  await connection
    .collection('callback_outbox')
    .drop()
    .catch(() => undefined);
  return changed;
}

/** Adds batches to a list, one by one; listed ones stay as they are. */
async function list(
  connection: Connection,
  name: string,
  which: mongo.Filter<OldBatch>,
  dueAt: (batch: OldBatch) => Date | undefined,
): Promise<void> {
  const projection = { busy: 1, busyUntil: 1, purgeAt: 1, forgetAt: 1 };
  for await (const batch of connection.collection<OldBatch>('batches').find(which, { projection })) {
    const at = dueAt(batch as OldBatch);
    if (at === undefined) continue;
    await connection
      .collection<Listed>(name)
      .updateOne({ _id: batch._id }, { $setOnInsert: { dueAt: at } }, { upsert: true });
  }
}
