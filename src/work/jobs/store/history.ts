import { failureKey, hasEnded, type Job, type JobState, type SharedLink } from '../job.ts';
import type { JobCollections } from './collections.ts';
import { isInRecord } from './stored-input.ts';

/** Ids that one query looks up. */
const AT_ONCE = 500;
/** The fields of a `KeptJob`. */
const KEPT = { accountId: 1, state: 1, output: 1, report: 1, inputBytes: 1, keepsNothing: 1 } as const;

/** An ended job, and the fields that describe its stored data. */
export type KeptJob = Pick<
  Job,
  '_id' | 'accountId' | 'state' | 'output' | 'report' | 'inputBytes' | 'keepsNothing'
>;

/** Ended jobs until their retention ends: found by id, and listed by account. */
export class JobHistory {
  readonly #collections: JobCollections;

  constructor(collections: JobCollections) {
    this.#collections = collections;
  }

  /**
   * Moves ended jobs out of the collection of live jobs: copies first and deletes after, so that a crash in between
   * leaves two copies and never none. The inputs of completed jobs, and of those that keep nothing, are deleted;
   * other inputs stay until the retention ends.
   */
  async take(jobs: readonly Job[]): Promise<void> {
    const ended = jobs.filter((job) => hasEnded(job.state));
    if (ended.length === 0) return;
    const { history, live, inputs } = this.#collections;
    await this.#keepInputs(ended.filter((job) => keepsInput(job) && isInRecord(job)));
    // Some may have been copied by a process that died before it could delete the originals.
    await history.insertAbsent(
      ended.map(({ position: _, replyTo: _to, inputBytes, ...job }) => ({
        ...job,
        // Nothing is stored of an input that is deleted.
        ...(inputBytes !== undefined && !job.keepsNothing && { inputBytes }),
        ...failureOf(job),
      })),
    );
    const unneeded = ended.filter((job) => !keepsInput(job) && !isInRecord(job)).map((job) => job._id);
    await Promise.all([
      live.deleteMany({ _id: { $in: ended.map((job) => job._id) } }),
      unneeded.length > 0 && inputs.deleteMany({ _id: { $in: unneeded } }),
    ]);
  }

  /** Copies inputs out of the records of live jobs. */
  async #keepInputs(jobs: readonly Job[]): Promise<void> {
    if (jobs.length === 0) return;
    const { live, inputs } = this.#collections;
    const found = await live.find(
      { _id: { $in: jobs.map(({ _id }) => _id) } },
      { projection: { accountId: 1, createdAt: 1, input: 1 } },
    );
    await inputs.insertAbsent(
      found.flatMap(({ _id, accountId, createdAt, input }) =>
        input === undefined ? [] : [{ _id, accountId, createdAt, content: input }],
      ),
    );
  }

  find(jobId: string): Promise<Job | undefined> {
    return this.#collections.history.findById(jobId);
  }

  /** The given jobs that have been moved here. */
  async some(jobIds: readonly string[]): Promise<Job[]> {
    const found: Job[] = [];
    for (let start = 0; start < jobIds.length; start += AT_ONCE) {
      const ids = jobIds.slice(start, start + AT_ONCE);
      found.push(...(await this.#collections.history.find({ _id: { $in: ids } })));
    }
    return found;
  }

  /** The ids of the given jobs that have been moved here. */
  async among(jobIds: readonly string[]): Promise<Set<string>> {
    if (jobIds.length === 0) return new Set();
    const found = await this.#collections.history.find(
      { _id: { $in: [...jobIds] } },
      { projection: { _id: 1 } },
    );
    return new Set(found.map((job) => job._id));
  }

  /** Jobs whose retention has ended, with the fields that are needed to delete them. */
  expired(now: Date, limit: number): Promise<KeptJob[]> {
    return this.#collections.history.find({ expiresAt: { $lte: now } }, { projection: KEPT, limit });
  }

  /** Some of an account's ended jobs, with the fields that are needed to delete them. */
  ofAccount(accountId: string, limit: number): Promise<KeptJob[]> {
    return this.#collections.history.find({ accountId }, { projection: KEPT, limit });
  }

  /** Adds and takes away links to the PDF of a job. */
  async changeLinks(
    jobId: string,
    { add, remove }: { readonly add?: { id: string; link: SharedLink }; readonly remove: readonly string[] },
  ): Promise<void> {
    const $unset = Object.fromEntries(remove.map((id) => [`sharedLinks.${id}`, ''] as const));
    await this.#collections.history.updateOne(
      { _id: jobId },
      {
        ...(add && { $set: { [`sharedLinks.${add.id}`]: add.link } }),
        ...(remove.length > 0 && { $unset }),
      },
    );
  }

  /** Notes that a link was opened, unless it was revoked meanwhile. */
  async noteOpened(jobId: string, linkId: string, at: Date): Promise<void> {
    await this.#collections.history.updateOne(
      { _id: jobId, [`sharedLinks.${linkId}`]: { $exists: true } },
      { $set: { [`sharedLinks.${linkId}.lastOpenedAt`]: at } },
    );
  }

  /** Notes that the PDF of a job was deleted. @returns false when that is noted already, or the job is not here. */
  noteDeleted(jobId: string, size: number): Promise<boolean> {
    return this.#collections.history.updateOne(
      { _id: jobId, 'output.deletedSize': { $exists: false } },
      { $set: { 'output.size': 0, 'output.deletedSize': size } },
    );
  }

  /** Deletes jobs and their inputs for good. @returns the number of deleted jobs. */
  async delete(jobIds: readonly string[]): Promise<number> {
    if (jobIds.length === 0) return 0;
    await this.#collections.inputs.deleteMany({ _id: { $in: [...jobIds] } });
    return this.#collections.history.deleteMany({ _id: { $in: [...jobIds] } });
  }

  /** Stored bytes of an account's ended jobs. */
  async storedBytes(accountId: string): Promise<number> {
    const sums = await this.#collections.history.aggregate<{
      _id: JobState;
      outputs: number;
      inputs: number;
      reports: number;
      einvoices: number;
    }>({ accountId }, [
      {
        $group: {
          _id: '$state',
          outputs: { $sum: '$output.size' },
          inputs: { $sum: '$inputBytes' },
          reports: { $sum: '$report.size' },
          einvoices: { $sum: '$output.einvoice.size' },
        },
      },
    ]);
    return sums.reduce(
      (sum, { _id, outputs, inputs, reports, einvoices }) =>
        sum + reports + einvoices + (_id === 'completed' ? outputs : inputs),
      0,
    );
  }
}

function keepsInput({ state, keepsNothing }: Job): boolean {
  return state !== 'completed' && !keepsNothing;
}

function failureOf({
  _id,
  state,
  completedAt,
}: Pick<Job, '_id' | 'state' | 'completedAt'>): Pick<Job, 'failureKey'> {
  return state === 'failed' && completedAt !== null ? { failureKey: failureKey(completedAt, _id) } : {};
}
