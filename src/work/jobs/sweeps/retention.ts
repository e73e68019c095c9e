import type { OutputStore } from '../../../infra/outputs/output-store.ts';
import { keptBytes } from '../job.ts';
import type { StoredBytes } from '../ledger/stored-bytes.ts';
import type { JobHistory, KeptJob } from '../store/history.ts';

const BATCH = 500;

/** Deletes jobs whose retention has ended, with their outputs and inputs; then outputs that belong to no job. */
export async function endRetention(
  { history, stored }: { readonly history: JobHistory; readonly stored: StoredBytes },
  outputs: OutputStore,
  now: Date,
): Promise<number> {
  let ended = 0;
  for (;;) {
    const due = await history.expired(now, BATCH);
    await deleteKept({ history, stored }, outputs, due);
    ended += due.length;
    if (due.length < BATCH) break;
  }
  return ended + (await outputs.deleteExpired(now));
}

/** Deletes ended jobs with their stored data, and gives the storage back to their accounts. */
export async function deleteKept(
  { history, stored }: { readonly history: JobHistory; readonly stored: StoredBytes },
  outputs: OutputStore,
  jobs: readonly KeptJob[],
): Promise<void> {
  const keys = jobs.flatMap(({ output, report }) =>
    [output, output?.einvoice, report].flatMap((file) => file?.key ?? []),
  );
  await outputs.delete(...keys);
  const deleted = await history.delete(jobs.map((job) => job._id));
  await stored.giveBackAll(jobs, deleted, keptBytes);
}
