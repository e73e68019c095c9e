import type { Dispatch } from '../dispatch.ts';
import type { Job } from '../job.ts';
import type { JobCollections } from '../job-collections.ts';
import type { Slots } from '../slots.ts';

/** A slot is taken moments before its job is written; a holder younger than this may still be on its way. */
const GRACE_MS = 10_000;

/**
 * Gives back the slots whose jobs are no longer running: what a process that died between two steps left taken.
 * Each is named by its job, so a slot that is in use is never touched.
 */
export async function recountSlots(parts: {
  collections: JobCollections;
  slots: Slots;
  dispatch: Dispatch;
  now: Date;
  graceMs?: number;
}): Promise<number> {
  const { collections, slots, dispatch, now } = parts;
  const before = now.getTime() - (parts.graceMs ?? GRACE_MS);
  const suspects = (await slots.all()).flatMap((record) =>
    Object.entries(record.holders ?? {})
      .filter(([, since]) => since <= before)
      .map(([jobId]) => ({ jobId, accountId: record._id })),
  );
  if (suspects.length === 0) {
    await slots.removeIdle();
    return 0;
  }
  const running = (await collections.jobs
    .find(
      { _id: { $in: suspects.map(({ jobId }) => jobId) }, state: { $in: ['dispatched', 'processing'] } },
      { _id: 1 },
    )
    .lean()) as Pick<Job, '_id'>[];
  const inUse = new Set(running.map((job) => job._id));
  const leaked = suspects.filter(({ jobId }) => !inUse.has(jobId));
  for (const { accountId, jobId } of leaked) {
    if (await slots.release(accountId, jobId)) await dispatch.fill(accountId);
  }
  return leaked.length;
}
