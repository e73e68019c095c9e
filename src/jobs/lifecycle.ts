import type { Clock } from '../clock.ts';
import type { PlatenError } from '../errors/registry.ts';
import { isDuplicateKey } from '../store/duplicate-key.ts';
import type { Job, JobError, JobOutput, JobState } from './job.ts';
import type { JobCollections } from './job-collections.ts';

/** A job as somebody saw it: enough to try to move it on. */
export type Seen = Pick<Job, '_id' | 'version'>;

const HOUR_MS = 3_600_000;

/** The job was accepted before, by another try of the same request. */
export class JobExists extends Error {
  constructor(jobId: string) {
    super(`The job ${jobId} exists already.`);
    this.name = 'JobExists';
  }
}

/**
 * Every change of a job's state (the picture is in job.ts). Each function is one atomic update that requires the
 * version the caller decided on; it answers the job as it is afterwards, or undefined when somebody else was first —
 * in which case nothing has changed and nothing is to be done.
 */
export class Lifecycle {
  readonly #collections: JobCollections;
  readonly #clock: Clock;

  constructor(collections: JobCollections, clock: Clock) {
    this.#collections = collections;
    this.#clock = clock;
  }

  /**
   * Makes the job durable. Its input must have been saved before: a job without one must never be seen.
   *
   * @throws JobExists when there is a live job with this id; nothing has changed then.
   */
  async accept(job: Job): Promise<void> {
    try {
      await this.#collections.jobs.collection.insertOne(job as never);
    } catch (error) {
      if (isDuplicateKey(error)) throw new JobExists(job._id);
      throw error;
    }
  }

  /** queued → dispatched, once a slot is held. */
  dispatch(seen: Seen): Promise<Job | undefined> {
    const now = this.#clock.now();
    return this.#move(seen, 'dispatched', { dispatchedAt: now });
  }

  /** dispatched → processing: the worker holds the job until its lease ends, and begins an attempt. */
  claim(seen: Seen, owner: string, leaseMs: number): Promise<Job | undefined> {
    const now = this.#clock.now();
    const leaseExpiresAt = new Date(now.getTime() + leaseMs);
    return this.#move(seen, 'processing', { owner, leaseExpiresAt, startedAt: now }, { attempts: 1 });
  }

  /** processing → completed, if the fence still holds. */
  complete(claimed: Job, output: JobOutput, expiresAt: Date): Promise<Job | undefined> {
    const now = this.#clock.now();
    return this.#move(claimed, 'completed', {
      completedAt: now,
      expiresAt,
      output,
      error: null,
      processingTimeMs: now.getTime() - (claimed.startedAt ?? now).getTime(),
    });
  }

  /** processing → queued, to be tried again `delayMs` from now. */
  retryLater(claimed: Job, error: PlatenError, delayMs: number): Promise<Job | undefined> {
    const now = this.#clock.now();
    const crashes = error.code === 'BROWSER_CRASHED' ? 1 : 0;
    return this.#move(
      claimed,
      'queued',
      {
        notBefore: new Date(now.getTime() + delayMs),
        error: recorded(error),
        owner: null,
        leaseExpiresAt: null,
      },
      { crashes },
    );
  }

  /** processing → queued, as if the attempt had not begun: the worker has to stop. */
  giveBack(claimed: Job): Promise<Job | undefined> {
    return this.#move(claimed, 'queued', { owner: null, leaseExpiresAt: null }, { attempts: -1 });
  }

  /** Any live state → failed. */
  fail(job: Job, error: PlatenError): Promise<Job | undefined> {
    return this.#end(job, 'failed', recorded(error));
  }

  /** Any live state → cancelled. */
  cancel(job: Job): Promise<Job | undefined> {
    return this.#end(job, 'cancelled', { code: 'CANCELLED', message: 'The job was cancelled.' });
  }

  /**
   * Prolongs the leases of what a worker still holds, in one update.
   *
   * @returns the ids of those jobs that it holds no more (cancelled, or given to somebody else).
   */
  async renew(owner: string, held: readonly Seen[], leaseMs: number): Promise<string[]> {
    const ids = held.map((job) => job._id);
    const leaseExpiresAt = new Date(this.#clock.now().getTime() + leaseMs);
    const { jobs } = this.#collections;
    await jobs.updateMany({ _id: { $in: ids }, owner, state: 'processing' }, { $set: { leaseExpiresAt } });
    const now = await jobs.find({ _id: { $in: ids } }, { version: 1 }).lean();
    const versions = new Map(now.map((job) => [job._id, job.version]));
    return held.filter((job) => versions.get(job._id) !== job.version).map((job) => job._id);
  }

  #end(job: Job, state: 'failed' | 'cancelled', error: JobError): Promise<Job | undefined> {
    const now = this.#clock.now();
    const began = job.state === 'processing' ? job.startedAt : null;
    return this.#move(job, state, {
      completedAt: now,
      expiresAt: new Date(now.getTime() + job.retentionHours * HOUR_MS),
      error,
      owner: null,
      leaseExpiresAt: null,
      processingTimeMs: began === null ? job.processingTimeMs : now.getTime() - began.getTime(),
    });
  }

  /** The one update behind every arrow. */
  async #move(
    seen: Seen,
    state: JobState,
    set: Partial<Job>,
    increment: Partial<Record<'attempts' | 'crashes', number>> = {},
  ): Promise<Job | undefined> {
    const job = await this.#collections.jobs.collection.findOneAndUpdate(
      { _id: seen._id as never, version: seen.version },
      { $set: { ...set, state, updatedAt: this.#clock.now() }, $inc: { version: 1, ...increment } },
      { returnDocument: 'after' },
    );
    return (job as Job | null) ?? undefined;
  }
}

function recorded(error: PlatenError): JobError {
  return { code: error.code, message: error.message };
}
