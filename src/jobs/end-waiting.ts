import { randomBytes } from 'node:crypto';
import { type Job, leavingName } from './job.ts';
import type { JobEnds } from './job-ends.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { JobStore } from './store/job-store.ts';

/**
 * Ends jobs of one account that wait at their places, in the steps of `endEarly` (end-early.ts), each of them taken for
 * all together. What the steps cost does not grow with their number but for what has to be written, so thousands are
 * ended in some hundreds at a time.
 *
 * @param seen as they were seen a moment ago: all with the same version, and to be kept for the same time.
 * @param move the transition of all of them, or undefined when some had moved on: `cancelAll` or `failAll`.
 * @returns those that had moved on meanwhile and are not ended.
 */
export async function endWaiting(
  parts: { readonly ledger: Ledger; readonly ends: JobEnds; readonly store: JobStore },
  seen: readonly Job[],
  move: (seen: readonly Job[], leaving: string) => Promise<Job[] | undefined>,
): Promise<Job[]> {
  const [first] = seen;
  if (first === undefined) return [];
  const { ledger, ends, store } = parts;
  const { accountId } = first;
  const leaving = randomBytes(6).toString('hex');
  const nameOf = (job: Job) => leavingName({ ...job, leaving });
  await ledger.announceLeaving(accountId, ...seen.map(nameOf));
  const ended = (await move(seen, leaving)) ?? (await endedBy(store, seen, leaving));
  const ids = new Set(ended.map(({ _id }) => _id));
  const moved = seen.filter(({ _id }) => !ids.has(_id));
  if (moved.length > 0) await ledger.withdrawLeaving(accountId, ...moved.map(nameOf));
  if (ended.length > 0) await ends.followWaiting(ended);
  return moved;
}

async function endedBy(store: JobStore, seen: readonly Job[], leaving: string): Promise<Job[]> {
  const ids = seen.map(({ _id }) => _id);
  const live = await store.live.among(ids);
  // One whose turn has come since is in the history already. The other way no job goes.
  const passed = await store.history.some(ids.filter((id) => !live.has(id)));
  return [...live.values(), ...passed].filter((job) => job.leaving === leaving);
}
