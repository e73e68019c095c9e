import type { Job } from './job.ts';

/** The longest time that the end of a job waits for other ends, in milliseconds. */
const LONGEST_MS = 80;
/** Shorter waits are skipped, in milliseconds. */
const WORTHWHILE_MS = 10;
/** The number of positions that are read together in a queue. */
const MOST_JOBS = 16;
/** An end waits at most the time that a pointer waits for a worker, divided by this. */
const PART_OF_WAIT = 4;

interface Gathered {
  readonly jobs: Job[];
  readonly done: Promise<void>;
  /** Ends the wait; called once. */
  readonly follow: () => void;
}

/**
 * Follows up the ends of one account's jobs together, where that delays no job: while dispatched jobs wait on the bus
 * for a worker, a slot that is given back a little later only shortens the wait of a pointer. Each job has measured
 * that wait itself, between its dispatch and its claim. (A `WriteBehind` has one delay and one write at a time for all
 * accounts, and its callers do not wait; here accounts must not wait for each other.)
 */
export class CoalescedFollowUps {
  readonly #follow: (jobs: readonly Job[]) => Promise<void>;
  /** By account. */
  readonly #gathered = new Map<string, Gathered>();

  /** @param follow called with jobs of one account. */
  constructor(follow: (jobs: readonly Job[]) => Promise<void>) {
    this.#follow = follow;
  }

  /** Resolves when the end of the job has been followed up, perhaps with others. @throws the errors of `follow`. */
  add(job: Job): Promise<void> {
    const waitMs = mayWaitMs(job);
    const others = this.#gathered.get(job.accountId);
    if (others === undefined) return waitMs === 0 ? this.#follow([job]) : this.#gather(job, waitMs);
    others.jobs.push(job);
    if (waitMs === 0 || others.jobs.length === MOST_JOBS) others.follow();
    return others.done;
  }

  /** Ends all waits. Resolves when every gathered end has been followed up, or its follow-up has failed. */
  async flush(): Promise<void> {
    const all = [...this.#gathered.values()];
    for (const { follow } of all) follow();
    await Promise.allSettled(all.map(({ done }) => done));
  }

  #gather(job: Job, waitMs: number): Promise<void> {
    const { accountId } = job;
    const jobs = [job];
    const enough = Promise.withResolvers<void>();
    const follow = () => {
      clearTimeout(timer);
      // Later ends are gathered separately.
      this.#gathered.delete(accountId);
      enough.resolve();
    };
    const timer = setTimeout(follow, waitMs);
    const done = enough.promise.then(() => this.#follow(jobs));
    this.#gathered.set(accountId, { jobs, done, follow });
    return done;
  }
}

/** How long the end of a job may wait for others, in milliseconds; 0 for a job whose caller waits. */
export function mayWaitMs({ class: jobClass, endedFrom, dispatchedAt, startedAt }: Job): number {
  if (jobClass !== 'bulk' || endedFrom !== 'processing' || dispatchedAt === null || startedAt === null)
    return 0;
  const waited = startedAt.getTime() - dispatchedAt.getTime();
  const ms = Math.min(LONGEST_MS, waited / PART_OF_WAIT);
  return ms < WORTHWHILE_MS ? 0 : ms;
}
