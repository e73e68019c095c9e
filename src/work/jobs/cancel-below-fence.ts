import { endEarly } from './end-early.ts';
import type { Job } from './job.ts';
import type { Jobs } from './open-jobs.ts';

/** Jobs that are read at a time. */
const PAGE = 200;
/** How often the jobs are read again when some have changed meanwhile, for example have got the slots of others. */
const TRIES = 10;

/**
 * Cancels the jobs, waiting and running, that were requested before an account had its present owner. A job that keeps
 * changing may be left.
 *
 * @returns the number of cancelled jobs.
 */
export async function cancelJobsBelowFence(
  deps: Pick<Jobs, 'ledger' | 'followUp' | 'store'>,
  accountId: string,
  ownerFence: number,
): Promise<number> {
  let cancelled = 0;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { found, ended } = await cancelOnce(deps, accountId, ownerFence);
    cancelled += ended;
    if (found === ended) break;
  }
  return cancelled;
}

async function cancelOnce(
  deps: Pick<Jobs, 'ledger' | 'followUp' | 'store'>,
  accountId: string,
  ownerFence: number,
) {
  let [found, ended] = [0, 0];
  for (let skip = 0; ; ) {
    const page = await deps.store.live.ofAccount(accountId, { skip, limit: PAGE });
    const old = page.filter((job) => (job.ownerFence ?? 0) < ownerFence);
    let endedNow = 0;
    for (const jobs of endedTogether(old)) endedNow += (await endEarly(deps, jobs, { whole: true })).length;
    found += old.length;
    ended += endedNow;
    if (page.length < PAGE) return { found, ended };
    skip += page.length - endedNow;
  }
}

/**
 * The jobs in groups that `endEarly` can end by one step: jobs that have waited since they arrived, of one retention.
 * They come before the jobs with slots, which they would get.
 */
function endedTogether(jobs: readonly Job[]): Job[][] {
  const { waiting = [], others = [] } = Object.groupBy(jobs, hasWaitedSinceAdmission);
  return [...Map.groupBy(waiting, (job) => job.retentionHours).values(), ...others.map((job) => [job])];
}

function hasWaitedSinceAdmission({ state, position, version }: Job): 'waiting' | 'others' {
  return state === 'queued' && position !== undefined && version === 1 ? 'waiting' : 'others';
}
