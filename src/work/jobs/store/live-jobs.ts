import type { JobClass } from '../../../infra/bus/bus.ts';
import type { Job } from '../job.ts';
import type { JobCollections } from './collections.ts';
import type { SeenJob } from './transitions.ts';

/** Jobs that hold a slot: counts by state and class, and by pool since when the oldest waits for a worker. */
export interface RunningJobs {
  readonly dispatched: Readonly<Record<JobClass, number>>;
  readonly processing: Readonly<Record<JobClass, number>>;
  readonly oldestDispatched: ReadonlyMap<string, Date>;
}

/** Ids that one query looks up. */
const AT_ONCE = 500;

/** The state of a job, the pool that it is for, and the worker that holds it. */
export type Whereabouts = Pick<
  Job,
  'accountId' | 'state' | 'class' | 'pool' | 'owner' | 'dispatchedAt' | 'startedAt'
>;

/** Finds jobs that wait, run or have just ended, each by an exact key: their number does not matter. */
export class LiveJobs {
  readonly #live: JobCollections['live'];

  constructor({ live }: JobCollections) {
    this.#live = live;
  }

  find(jobId: string): Promise<Job | undefined> {
    return this.#live.findById(jobId);
  }

  /** The given jobs that are live or have just ended. */
  async among(jobIds: readonly string[]): Promise<Map<string, Job>> {
    const found = new Map<string, Job>();
    for (let start = 0; start < jobIds.length; start += AT_ONCE) {
      const jobs = await this.#live.find({ _id: { $in: jobIds.slice(start, start + AT_ONCE) } });
      for (const job of jobs) found.set(job._id, job);
    }
    return found;
  }

  /** Some of an account's jobs that have not ended, the oldest first. */
  ofAccount(accountId: string, page: { readonly skip: number; readonly limit: number }): Promise<Job[]> {
    return this.#live.find({ accountId, expiresAt: null }, { sort: { createdAt: 1, _id: 1 }, ...page });
  }

  /** Some of an account's jobs that are here, ended or not. */
  anyOf(accountId: string, limit: number): Promise<Job[]> {
    return this.#live.find({ accountId }, { limit });
  }

  /** The jobs at some of these positions, at most one at each: it waits there or has ended there. */
  atPositions(positions: readonly string[]): Promise<Job[]> {
    return this.#live.find({ position: { $in: [...positions] } });
  }

  /** Counts dispatched and processing jobs by class, and finds the time of each pool's oldest dispatched job. */
  async countRunning(jobIds: readonly string[]): Promise<RunningJobs> {
    const counts = { dispatched: { interactive: 0, bulk: 0 }, processing: { interactive: 0, bulk: 0 } };
    const oldestDispatched = new Map<string, Date>();
    for (const { state, class: jobClass, pool, dispatchedAt } of (await this.whereabouts(jobIds)).values()) {
      if (state !== 'dispatched' && state !== 'processing') continue;
      counts[state][jobClass] += 1;
      if (state !== 'dispatched' || dispatchedAt === null) continue;
      const oldest = oldestDispatched.get(pool);
      if (oldest === undefined || dispatchedAt < oldest) oldestDispatched.set(pool, dispatchedAt);
    }
    return { ...counts, oldestDispatched };
  }

  /** The state, pool and worker of the given jobs that are live or have just ended, by id. */
  async whereabouts(jobIds: readonly string[]): Promise<Map<string, Whereabouts>> {
    const found = new Map<string, Whereabouts>();
    const projection = {
      accountId: 1,
      state: 1,
      class: 1,
      pool: 1,
      owner: 1,
      dispatchedAt: 1,
      startedAt: 1,
    } as const;
    for (let start = 0; start < jobIds.length; start += AT_ONCE) {
      const some = { _id: { $in: jobIds.slice(start, start + AT_ONCE) } };
      for (const job of await this.#live.find(some, { projection })) found.set(job._id, job);
    }
    return found;
  }

  /** The number of the given jobs in each batch, by its id; jobs that are no items are left out. */
  async countByBatch(jobIds: readonly string[]): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (let start = 0; start < jobIds.length; start += AT_ONCE) {
      const some = { _id: { $in: jobIds.slice(start, start + AT_ONCE) } };
      for (const { item } of await this.#live.find(some, { projection: { item: 1 } })) {
        if (item !== undefined) counts.set(item.batchId, (counts.get(item.batchId) ?? 0) + 1);
      }
    }
    return counts;
  }

  /** Deletes jobs that were written after their reservations had been given back, and so were never accepted. */
  async withdraw(jobIds: readonly string[]): Promise<void> {
    // Only in their first version, in which no process has changed them.
    for (const _id of jobIds) await this.#live.deleteOne({ _id, version: 1 });
  }

  /** Records that a dispatched job's pointer is published again, to this pool. @returns false if it changed. */
  touch(seen: SeenJob, pool: string, now: Date): Promise<boolean> {
    return this.#live.updateOne({ _id: seen._id, version: seen.version }, { $set: { pool, updatedAt: now } });
  }

  /** Bytes of the inputs of an account's waiting and running jobs. */
  async inputBytes(accountId: string): Promise<number> {
    const group = { $group: { _id: null, bytes: { $sum: '$inputBytes' } } };
    const [sum] = await this.#live.aggregate<{ bytes: number }>({ accountId }, [group]);
    return sum?.bytes ?? 0;
  }

  /** The approximate number of waiting and running jobs, without reading any. */
  estimatedCount(): Promise<number> {
    return this.#live.estimatedCount();
  }
}
