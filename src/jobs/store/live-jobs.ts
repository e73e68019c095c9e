import type { JobClass } from '../../bus/bus.ts';
import type { Job } from '../job.ts';
import type { JobCollections } from './collections.ts';
import type { SeenJob } from './transitions.ts';

/** Jobs that hold a slot: how many by state and class, and since when by pool the oldest that no worker has taken. */
export interface RunningJobs {
  readonly dispatched: Readonly<Record<JobClass, number>>;
  readonly processing: Readonly<Record<JobClass, number>>;
  readonly oldestDispatched: ReadonlyMap<string, Date>;
}

/** Ids that are looked up together. */
const AT_ONCE = 500;

/** Of a job: its state, the pool that it is for, and the worker that holds it. */
export type Whereabouts = Pick<Job, 'state' | 'class' | 'pool' | 'owner' | 'dispatchedAt'>;

/** Finds jobs that wait, run or have just ended, each by an exact key: that costs the same however many there are. */
export class LiveJobs {
  readonly #live: JobCollections['live'];

  constructor({ live }: JobCollections) {
    this.#live = live;
  }

  find(jobId: string): Promise<Job | undefined> {
    return this.#live.findById(jobId);
  }

  /** Those of these jobs that are live or have just ended. */
  async among(jobIds: readonly string[]): Promise<Map<string, Job>> {
    const found = new Map<string, Job>();
    for (let start = 0; start < jobIds.length; start += AT_ONCE) {
      const jobs = await this.#live.find({ _id: { $in: jobIds.slice(start, start + AT_ONCE) } });
      for (const job of jobs) found.set(job._id, job);
    }
    return found;
  }

  /** The jobs at some of these positions: at each one at most, which waits or has ended there. */
  atPositions(positions: readonly string[]): Promise<Job[]> {
    return this.#live.find({ place: { $in: [...positions] } });
  }

  /** How many of these jobs are dispatched and processing, by class; and since when the oldest of the former are, by pool. */
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

  /** Where those of these jobs are that are live or have just ended, by id. */
  async whereabouts(jobIds: readonly string[]): Promise<Map<string, Whereabouts>> {
    const found = new Map<string, Whereabouts>();
    const projection = { state: 1, class: 1, pool: 1, owner: 1, dispatchedAt: 1 } as const;
    for (let start = 0; start < jobIds.length; start += AT_ONCE) {
      const some = { _id: { $in: jobIds.slice(start, start + AT_ONCE) } };
      for (const job of await this.#live.find(some, { projection })) found.set(job._id, job);
    }
    return found;
  }

  /** How many of these jobs are items of which batch, by its id; jobs that are no items are left out. */
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

  /** Deletes jobs that were never accepted: written too late, after what they had taken was given back. */
  async withdraw(jobIds: readonly string[]): Promise<void> {
    // In their first version: no process has moved them on.
    for (const _id of jobIds) await this.#live.deleteOne({ _id, version: 1 });
  }

  /** Notes that the pointer of a dispatched job is published again, to this pool. @returns false when it has moved on. */
  touch(seen: SeenJob, pool: string, now: Date): Promise<boolean> {
    return this.#live.updateOne({ _id: seen._id, version: seen.version }, { $set: { pool, updatedAt: now } });
  }

  /** Bytes of the inputs of an account's jobs that wait or run. */
  async inputBytes(accountId: string): Promise<number> {
    const group = { $group: { _id: null, bytes: { $sum: '$inputBytes' } } };
    const [sum] = await this.#live.aggregate<{ bytes: number }>({ accountId }, [group]);
    return sum?.bytes ?? 0;
  }

  /** About how many jobs wait or run, known without reading any. */
  estimatedCount(): Promise<number> {
    return this.#live.estimatedCount();
  }
}
