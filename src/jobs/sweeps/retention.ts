import type { OutputStore } from '../../store/outputs/output-store.ts';
import { moveToHistory } from '../history.ts';
import { deleteInputs } from '../inputs.ts';
import type { Job } from '../job.ts';
import type { JobCollections } from '../job-collections.ts';

const BATCH = 500;
/** An input is saved moments before its job; one that is this old and has none never will. */
const ORPHAN_AFTER_MS = 3_600_000;
const LEFT_BEHIND_AFTER_MS = 5000;

/** Moves what has ended and was left behind in the hot collection by a process that died. */
export async function moveLeftBehind(
  collections: JobCollections,
  now: Date,
  returnUnused: (job: Job) => Promise<void>,
): Promise<number> {
  const before = new Date(now.getTime() - LEFT_BEHIND_AFTER_MS);
  const ended = (await collections.jobs
    .find({ state: { $in: ['completed', 'failed', 'cancelled'] }, updatedAt: { $lte: before } })
    .limit(BATCH)
    .lean()) as Job[];
  for (const job of ended) await returnUnused(job);
  await moveToHistory(collections, ended);
  return ended.length;
}

/** Deletes jobs whose retention has ended, with their outputs and inputs; then outputs that nobody claims. */
export async function endRetention(
  collections: JobCollections,
  outputs: OutputStore,
  now: Date,
): Promise<number> {
  let ended = 0;
  for (;;) {
    const due = (await collections.history
      .find({ expiresAt: { $lte: now } }, { output: 1 })
      .limit(BATCH)
      .lean()) as Pick<Job, '_id' | 'output'>[];
    for (const { output } of due) if (output !== null) await outputs.delete(output.key);
    const ids = due.map((job) => job._id);
    await deleteInputs(collections, ids);
    await collections.history.deleteMany({ _id: { $in: ids } });
    ended += due.length;
    if (due.length < BATCH) break;
  }
  return ended + (await outputs.deleteExpired(now));
}

/** Deletes inputs that never got a job: their request died half-way, or was refused. */
export async function deleteOrphanInputs(collections: JobCollections, now: Date): Promise<number> {
  const before = new Date(now.getTime() - ORPHAN_AFTER_MS);
  let deleted = 0;
  let after = '';
  for (;;) {
    // By id, so that inputs which have a job are passed over once and not met again.
    const old = await collections.inputs
      .find({ createdAt: { $lte: before }, _id: { $gt: after } }, { _id: 1 })
      .sort({ _id: 1 })
      .limit(BATCH)
      .lean();
    if (old.length === 0) return deleted;
    const ids = old.map((input) => input._id as string);
    const [live, over] = await Promise.all([
      collections.jobs.find({ _id: { $in: ids } }, { _id: 1 }).lean(),
      collections.history.find({ _id: { $in: ids } }, { _id: 1 }).lean(),
    ]);
    const known = new Set([...live, ...over].map((job) => job._id));
    const orphans = ids.filter((id) => !known.has(id));
    await deleteInputs(collections, orphans);
    deleted += orphans.length;
    after = ids[ids.length - 1]!;
  }
}
