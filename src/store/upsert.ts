import type { Model, mongo } from 'mongoose';
import { isDuplicateKey } from './duplicate-key.ts';

const TRIES = 5;

/*
 * Two who upsert one document at the same moment may both find it missing. MongoDB repeats the loser's update by
 * itself; servers that do not answer it with a duplicate key, and repeated it finds the document there.
 */

/** Runs an upsert by `_id`, again if it lost the race to insert. */
export async function repeatUpsert<T>(upsert: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await upsert();
    } catch (error) {
      if (!isDuplicateKey(error) || tries === TRIES) throw error;
    }
  }
}

/** Runs upserts by `_id` together, and again those that lost the race to insert; no other is run twice. */
export async function bulkUpsert<T>(
  collection: Model<T>['collection'],
  operations: readonly mongo.AnyBulkWriteOperation[],
): Promise<void> {
  let left = [...operations];
  for (let tries = 1; left.length > 0; tries += 1) {
    try {
      await collection.bulkWrite(left as never[], { ordered: false });
      return;
    } catch (error) {
      if (!isDuplicateKey(error) || tries === TRIES) throw error;
      const lost = [(error as mongo.MongoBulkWriteError).writeErrors].flat();
      left = lost.map(({ index }) => left[index]!);
    }
  }
}
