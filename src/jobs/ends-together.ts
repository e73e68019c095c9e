import type { Job } from './job.ts';

/** The longest that an end waits for others, in milliseconds. */
const LONGEST_MS = 80;
/** Less than this is not worth waiting for. */
const WORTHWHILE_MS = 10;
/** As many as are looked up together in a queue. */
const MOST_JOBS = 16;
/** An end may wait one part in this many of the time that a pointer waits for a worker. */
const PART_OF_WAIT = 4;

interface Gathered {
  readonly jobs: Job[];
  readonly done: Promise<void>;
  /** At once, and once only. */
  readonly follow: () => void;
}

/**
 * Follows up ends of jobs of one account together, where that delays no job: while jobs that have their slots wait on the
 * bus for a worker, a slot that is given back a little later is a pointer that waits a little less. How long that is, each
 * job has measured itself, between its dispatch and its claim. (A `WriteBehind` has one delay and one write at a time for
 * all accounts, and its callers do not wait; an end of one account must not wait for those of others.)
 */
export class EndsTogether {
  readonly #follow: (jobs: readonly Job[]) => Promise<void>;
  /** By account. */
  readonly #gathered = new Map<string, Gathered>();

  /** @param follow given jobs of one account. */
  constructor(follow: (jobs: readonly Job[]) => Promise<void>) {
    this.#follow = follow;
  }

  /** Resolves when the end of the job has been followed up, perhaps with others. @throws what `follow` does. */
  add(job: Job): Promise<void> {
    const waitMs = mayWaitMs(job);
    const others = this.#gathered.get(job.accountId);
    if (others === undefined) return waitMs === 0 ? this.#follow([job]) : this.#gather(job, waitMs);
    others.jobs.push(job);
    if (waitMs === 0 || others.jobs.length === MOST_JOBS) others.follow();
    return others.done;
  }

  /** Waits for no more. Resolves when what was gathered has been followed up, or has failed to be. */
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
      // Ends that come from now on are gathered anew.
      this.#gathered.delete(accountId);
      enough.resolve();
    };
    const timer = setTimeout(follow, waitMs);
    const done = enough.promise.then(() => this.#follow(jobs));
    this.#gathered.set(accountId, { jobs, done, follow });
    return done;
  }
}

/** How long the end of a job may wait for others, in milliseconds. Nothing waits that a caller waits for. */
export function mayWaitMs({ class: jobClass, endedFrom, dispatchedAt, startedAt }: Job): number {
  if (jobClass !== 'bulk' || endedFrom !== 'processing' || dispatchedAt === null || startedAt === null)
    return 0;
  const waited = startedAt.getTime() - dispatchedAt.getTime();
  const ms = Math.min(LONGEST_MS, waited / PART_OF_WAIT);
  return ms < WORTHWHILE_MS ? 0 : ms;
}
