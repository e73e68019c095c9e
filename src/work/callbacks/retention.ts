import type { StoredBytes } from '../jobs/ledger/stored-bytes.ts';
import type { DeliveryStore } from './delivery-store.ts';

const BATCH = 500;

/** Deletes callbacks past their retention, and gives their bytes back to their accounts. @returns how many. */
export async function endCallbacks(
  deliveries: DeliveryStore,
  stored: StoredBytes,
  now: Date,
): Promise<number> {
  let ended = 0;
  for (;;) {
    const old = await deliveries.old(now, BATCH);
    if (old.length === 0) return ended;
    const deleted = await deliveries.delete(old.map(({ _id }) => _id));
    ended += deleted;
    await stored.giveBackAll(old, deleted, ({ bytes = 0 }) => bytes);
    if (old.length < BATCH) return ended;
  }
}
