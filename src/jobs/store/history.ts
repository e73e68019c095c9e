import { hasEnded, type Job, type JobState } from '../job.ts';
import type { JobCollections } from './collections.ts';

/** Ids that are looked up together. */
const AT_ONCE = 500;

/** A job that has ended, and what is kept of it. */
export type KeptJob = Pick<Job, '_id' | 'accountId' | 'state' | 'output' | 'report' | 'inputBytes'>;

/** What has ended, until its retention ends: found by id and listed by account. */
export class JobHistory {
  readonly #collections: JobCollections;

  constructor(collections: JobCollections) {
    this.#collections = collections;
  }

  /**
   * Moves what has ended out of the hot collection: copy first, delete after, so that a crash in between leaves two
   * copies and never none. Inputs of completed jobs go; those of failed ones stay until their retention ends.
   */
  async take(jobs: readonly Job[]): Promise<void> {
    const ended = jobs.filter((job) => hasEnded(job.state));
    if (ended.length === 0) return;
    const { history, live, inputs } = this.#collections;
    // Some may have been copied before, by a process that died before it could delete them here.
    await history.insertAbsent(ended.map(({ place: _, ...job }) => job));
    const completed = ended.filter((job) => job.state === 'completed').map((job) => job._id);
    await Promise.all([
      live.deleteMany({ _id: { $in: ended.map((job) => job._id) } }),
      completed.length > 0 && inputs.deleteMany({ _id: { $in: completed } }),
    ]);
  }

  find(jobId: string): Promise<Job | undefined> {
    return this.#collections.history.findById(jobId);
  }

  /** Those of these jobs that have ended and been moved here. */
  async some(jobIds: readonly string[]): Promise<Job[]> {
    const found: Job[] = [];
    for (let start = 0; start < jobIds.length; start += AT_ONCE) {
      const ids = jobIds.slice(start, start + AT_ONCE);
      found.push(...(await this.#collections.history.find({ _id: { $in: ids } })));
    }
    return found;
  }

  /** Which of these jobs have ended and been moved here. */
  async among(jobIds: readonly string[]): Promise<Set<string>> {
    if (jobIds.length === 0) return new Set();
    const found = await this.#collections.history.find(
      { _id: { $in: [...jobIds] } },
      { projection: { _id: 1 } },
    );
    return new Set(found.map((job) => job._id));
  }

  /** Jobs whose retention has ended: what is needed to delete them. */
  expired(now: Date, limit: number): Promise<KeptJob[]> {
    const projection = { accountId: 1, state: 1, output: 1, report: 1, inputBytes: 1 } as const;
    return this.#collections.history.find({ expiresAt: { $lte: now } }, { projection, limit });
  }

  /** Deletes jobs for good, with their inputs. @returns how many of them were there. */
  async delete(jobIds: readonly string[]): Promise<number> {
    if (jobIds.length === 0) return 0;
    await this.#collections.inputs.deleteMany({ _id: { $in: [...jobIds] } });
    return this.#collections.history.deleteMany({ _id: { $in: [...jobIds] } });
  }

  /** Bytes that are kept of an account's jobs which have ended. */
  async storedBytes(accountId: string): Promise<number> {
    const sums = await this.#collections.history.aggregate<{
      _id: JobState;
      outputs: number;
      inputs: number;
      reports: number;
    }>({ accountId }, [
      {
        $group: {
          _id: '$state',
          outputs: { $sum: '$output.size' },
          inputs: { $sum: '$inputBytes' },
          reports: { $sum: '$report.size' },
        },
      },
    ]);
    return sums.reduce(
      (sum, { _id, outputs, inputs, reports }) => sum + reports + (_id === 'completed' ? outputs : inputs),
      0,
    );
  }
}
