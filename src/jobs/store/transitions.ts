import type { Clock } from '../../clock.ts';
import type { PlatenError } from '../../errors/registry.ts';
import type { Update } from '../../store/collection.ts';
import type { Job, JobError, JobOutput, JobState } from '../job.ts';
import { isOwnCrash } from '../retry-policy.ts';
import type { JobCollections } from './collections.ts';

/** A job as somebody saw it: enough to try to move it on. */
export type SeenJob = Pick<Job, '_id' | 'version'>;

const HOUR_MS = 3_600_000;
const CANCELLED: JobError = { code: 'CANCELLED', message: 'The job was cancelled.' };

/**
 * Every change of a job's state (the picture is in job.ts). Each function is one atomic update that requires the
 * version the caller decided on; it answers the job as it is afterwards, or undefined when somebody else was first —
 * in which case nothing has changed and nothing is to be done.
 */
export class Transitions {
  readonly #live: JobCollections['live'];
  readonly #clock: Clock;

  constructor({ live }: JobCollections, clock: Clock) {
    this.#live = live;
    this.#clock = clock;
  }

  /**
   * Makes a job durable. Its input must have been saved before: a job without one must never be seen.
   *
   * @returns false when there is a live job with this id, or at its place; nothing has changed then.
   */
  accept(job: Job): Promise<boolean> {
    return this.#live.insertIfAbsent(job);
  }

  /** The same for many jobs at once. Those that were there before, by an earlier try of the same request, stay. */
  acceptAll(jobs: readonly Job[]): Promise<void> {
    return this.#live.insertAbsent(jobs);
  }

  /** queued → queued, at a place in a lane: its time has come. */
  giveAPlace(seen: SeenJob, place: string): Promise<Job | undefined> {
    return this.#move(seen, 'queued', { place });
  }

  /** queued → dispatched, once a plan slot is held. */
  dispatch(seen: SeenJob, pool: string): Promise<Job | undefined> {
    return this.#move(
      seen,
      'dispatched',
      { dispatchedAt: this.#clock.now(), pool },
      { remove: { place: '' } },
    );
  }

  /**
   * `dispatch` for jobs that were all seen with the same version, in one update.
   *
   * @returns those that are dispatched now; the others have moved on.
   */
  async dispatchAll(seen: readonly Job[], pool: string): Promise<Job[]> {
    const version = seen[0]?.version;
    const now = this.#clock.now();
    const ids = seen.map(({ _id }) => _id);
    const set = { state: 'dispatched', dispatchedAt: now, pool, updatedAt: now } as const;
    const moved = await this.#live.updateMany(
      { _id: { $in: ids }, version },
      { $set: set, $inc: { version: 1 }, $unset: { place: '' } },
    );
    if (moved === seen.length) {
      return seen.map(({ place: _, ...job }) => ({ ...job, ...set, version: job.version + 1 }));
    }
    const found = await this.#live.find({ _id: { $in: ids } });
    return found.filter(({ state }) => state === 'dispatched');
  }

  /** dispatched → processing: the worker holds the job until its lease ends, and begins an attempt. */
  claim(seen: SeenJob, owner: string, leaseMs: number): Promise<Job | undefined> {
    const now = this.#clock.now();
    const leaseExpiresAt = new Date(now.getTime() + leaseMs);
    return this.#move(
      seen,
      'processing',
      { owner, leaseExpiresAt, startedAt: now },
      { increment: { attempts: 1 } },
    );
  }

  /**
   * processing → completed, if the fence still holds. The worker knows all of the job but until when its lease was
   * renewed last, so the job is not read back.
   */
  async complete(claimed: Job, output: JobOutput, expiresAt: Date): Promise<Job | undefined> {
    const now = this.#clock.now();
    const { _id, version } = claimed;
    const set = {
      state: 'completed',
      endedFrom: 'processing',
      completedAt: now,
      updatedAt: now,
      expiresAt,
      output,
      error: null,
      processingTimeMs: now.getTime() - (claimed.startedAt ?? now).getTime(),
    } as const;
    const moved = await this.#live.updateOne({ _id, version }, { $set: set, $inc: { version: 1 } });
    return moved ? { ...claimed, ...set, version: version + 1 } : undefined;
  }

  /**
   * processing → queued, to be tried again `delayMs` from now.
   *
   * @param onlyIfLeaseEnded true for who takes the job from a worker: a lease that was renewed meanwhile stands.
   */
  retryLater(
    claimed: Job,
    error: PlatenError,
    delayMs: number,
    onlyIfLeaseEnded = false,
  ): Promise<Job | undefined> {
    const now = this.#clock.now();
    return this.#move(
      claimed,
      'queued',
      {
        notBefore: new Date(now.getTime() + delayMs),
        error: recorded(error),
        owner: null,
        leaseExpiresAt: null,
      },
      { increment: { crashes: isOwnCrash(error) ? 1 : 0 }, onlyIfLeaseEnded },
    );
  }

  /** processing → queued, as if the attempt had not begun: the worker has to stop. */
  giveBack(claimed: Job): Promise<Job | undefined> {
    const undone = { owner: null, leaseExpiresAt: null };
    return this.#move(claimed, 'queued', undone, { increment: { attempts: -1 } });
  }

  /**
   * Any live state → failed.
   *
   * @param onlyIfLeaseEnded as of `retryLater`.
   */
  fail(job: Job, error: PlatenError, onlyIfLeaseEnded = false): Promise<Job | undefined> {
    return this.#end(job, 'failed', recorded(error), onlyIfLeaseEnded);
  }

  /** Any live state → cancelled. */
  cancel(job: Job): Promise<Job | undefined> {
    return this.#end(job, 'cancelled', CANCELLED, false);
  }

  /**
   * `cancel` for jobs that wait, were all seen with the same version and are to be kept for the same time, in one update.
   *
   * @param leaving of this try alone, as `leavingName` says.
   * @returns undefined when some had moved on: of those that were ended nonetheless the records say so by `leaving`.
   */
  cancelAll(seen: readonly Job[], leaving: string): Promise<Job[] | undefined> {
    return this.#endAll(seen, leaving, 'cancelled', CANCELLED);
  }

  /** `fail` for such jobs, as `cancelAll`. */
  failAll(seen: readonly Job[], leaving: string, error: PlatenError): Promise<Job[] | undefined> {
    return this.#endAll(seen, leaving, 'failed', recorded(error));
  }

  /**
   * Prolongs the leases of what a worker still holds, in one update.
   *
   * @returns the ids of those jobs that it holds no more (cancelled, or given to somebody else).
   */
  async renew(owner: string, held: readonly SeenJob[], leaseMs: number): Promise<string[]> {
    const ids = held.map((job) => job._id);
    const leaseExpiresAt = new Date(this.#clock.now().getTime() + leaseMs);
    await this.#live.updateMany(
      { _id: { $in: ids }, owner, state: 'processing' },
      { $set: { leaseExpiresAt } },
    );
    const now = await this.#live.find({ _id: { $in: ids } }, { projection: { version: 1 } });
    const versions = new Map(now.map((job) => [job._id, job.version]));
    return held.filter((job) => versions.get(job._id) !== job.version).map((job) => job._id);
  }

  async #endAll(
    seen: readonly Job[],
    leaving: string,
    state: 'failed' | 'cancelled',
    error: JobError,
  ): Promise<Job[] | undefined> {
    const [{ version, retentionHours }] = seen as [Job];
    const ids = seen.map(({ _id }) => _id);
    const now = this.#clock.now();
    const set = {
      state,
      endedFrom: 'queued',
      leaving,
      completedAt: now,
      updatedAt: now,
      expiresAt: new Date(now.getTime() + retentionHours * HOUR_MS),
      error,
      owner: null,
      leaseExpiresAt: null,
    } as const;
    const moved = await this.#live.updateMany(
      { _id: { $in: ids }, version },
      { $set: set, $inc: { version: 1 } },
    );
    return moved === seen.length ? seen.map((job) => ({ ...job, ...set, version: version + 1 })) : undefined;
  }

  #end(
    job: Job,
    state: 'failed' | 'cancelled',
    error: JobError,
    onlyIfLeaseEnded: boolean,
  ): Promise<Job | undefined> {
    const now = this.#clock.now();
    const began = job.state === 'processing' ? job.startedAt : null;
    return this.#move(
      job,
      state,
      {
        ...(job.state === 'queued' || job.state === 'dispatched' || job.state === 'processing'
          ? { endedFrom: job.state }
          : {}),
        ...(job.leaving && { leaving: job.leaving }),
        completedAt: now,
        expiresAt: new Date(now.getTime() + job.retentionHours * HOUR_MS),
        error,
        owner: null,
        leaseExpiresAt: null,
        processingTimeMs: began === null ? job.processingTimeMs : now.getTime() - began.getTime(),
      },
      { onlyIfLeaseEnded },
    );
  }

  /** The one update behind every other arrow. */
  #move(
    seen: SeenJob,
    state: JobState,
    set: Partial<Job>,
    more: {
      readonly increment?: Partial<Record<'attempts' | 'crashes', number>>;
      readonly remove?: { readonly place: '' };
      readonly onlyIfLeaseEnded?: boolean;
    } = {},
  ): Promise<Job | undefined> {
    const now = this.#clock.now();
    const update: Update<Job> = {
      $set: { ...set, state, updatedAt: now },
      $inc: { version: 1, ...more.increment },
      ...(more.remove && { $unset: more.remove }),
    };
    return this.#live.findOneAndUpdate(
      {
        _id: seen._id,
        version: seen.version,
        ...(more.onlyIfLeaseEnded && { leaseExpiresAt: { $lte: now } }),
      },
      update,
    );
  }
}

function recorded(error: PlatenError): JobError {
  return { code: error.code, message: error.message };
}
