import type { OutputStore } from '../../store/outputs/output-store.ts';
import type { JobHistory } from '../store/history.ts';

const BATCH = 500;

/** Deletes jobs whose retention has ended, with their outputs and inputs; then outputs that nobody claims. */
export async function endRetention(history: JobHistory, outputs: OutputStore, now: Date): Promise<number> {
  let ended = 0;
  for (;;) {
    const due = await history.expired(now, BATCH);
    for (const { output } of due) if (output !== null) await outputs.delete(output.key);
    await history.delete(due.map((job) => job._id));
    ended += due.length;
    if (due.length < BATCH) break;
  }
  return ended + (await outputs.deleteExpired(now));
}
