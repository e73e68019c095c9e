import type { mongo } from 'mongoose';
import type { Clock } from '../../../infra/clock.ts';
import type { PlatenError } from '../../../infra/errors/registry.ts';
import type { Update } from '../../../infra/store/collection.ts';
import {
  type FailedAttempt,
  hasEnded,
  type Job,
  type JobError,
  type JobInput,
  type JobOutput,
  type JobState,
  type StoredFile,
} from '../job.ts';
import { isOwnCrash } from '../retry-policy.ts';
import type { JobCollections, LiveJob, StoredInput } from './collections.ts';
import { isInRecord, parsedInput } from './stored-input.ts';

/** A job as it was read: the fields that a change requires. */
export type SeenJob = Pick<Job, '_id' | 'version'>;

/** Milliseconds in each phase of a failed attempt; null when unknown. */
type Phases = FailedAttempt['phases'];

interface ClaimedJob {
  readonly job: Job;
  /** Absent when the input has a record of its own. */
  readonly input?: JobInput;
}

/** Details of the attempt that ended a job. */
interface AttemptDetails {
  /** For a sweep that takes the job from a worker, whose lease has ended as it was read: a renewed one remains valid. */
  readonly onlyIfLeaseEnded?: boolean;
  readonly phases?: Phases;
  readonly report?: StoredFile | undefined;
}

const HOUR_MS = 3_600_000;
const CANCELLED: JobError = { code: 'CANCELLED', message: 'The job was cancelled.' };

/**
 * Every change of a job's state (see the diagram in job.ts). Each function is one atomic update that requires the
 * version on which the caller decided. It returns the updated job, or undefined when another process was first: then
 * nothing has changed and nothing is to be done. Given several jobs, it returns the jobs that it has changed.
 */
export class Transitions {
  readonly #live: JobCollections['live'];
  readonly #history: JobCollections['history'];
  readonly #clock: Clock;

  constructor({ live, history }: JobCollections, clock: Clock) {
    this.#live = live;
    this.#history = history;
    this.#clock = clock;
  }

  /**
   * Makes jobs durable. Their inputs must have been saved before, because a job must never exist without its input.
   *
   * @param inputs of all jobs, for those that have them in their records; none for items of batches.
   * @returns false when a live job has one of these ids or positions: such jobs, from an earlier attempt of the same
   * request, stay unchanged, and the other jobs are written.
   */
  accept(jobs: readonly Job[], inputs: readonly StoredInput[] = []): Promise<boolean> {
    const content = new Map(inputs.map((input) => [input._id, input.content]));
    return this.#live.insertAbsent(
      jobs.map((job) => (isInRecord(job) ? { ...job, input: content.get(job._id)! } : job)),
    );
  }

  /** queued → queued, with a position in a queue: the next attempt is due. */
  enqueue(seen: SeenJob, position: string): Promise<Job | undefined> {
    return this.#move(seen, 'queued', { position });
  }

  /**
   * queued → dispatched, once plan slots are held, for jobs that were all read with the same version.
   *
   * @returns the dispatched jobs; the others have changed meanwhile.
   */
  async dispatch(seen: readonly Job[], pool: string): Promise<Job[]> {
    const now = this.#clock.now();
    const set = { state: 'dispatched', dispatchedAt: now, pool, updatedAt: now } as const;
    const update: Update<Job> = { $set: set, $inc: { version: 1 }, $unset: { position: '' } };
    if ((await this.#moveAll(seen, update)) === seen.length) {
      return seen.map(({ position: _, ...job }) => ({ ...job, ...set, version: job.version + 1 }));
    }
    const found = await this.#live.find({ _id: { $in: idsOf(seen) } });
    return found.filter(({ state }) => state === 'dispatched');
  }

  /**
   * dispatched → processing: the worker holds the job until its lease ends, and begins an attempt.
   *
   * @returns the job, and the input that its record has.
   */
  async claim(seen: SeenJob, owner: string, leaseMs: number): Promise<ClaimedJob | undefined> {
    const now = this.#clock.now();
    const leaseExpiresAt = new Date(now.getTime() + leaseMs);
    const claimed = await this.#move(
      seen,
      'processing',
      { owner, leaseExpiresAt, startedAt: now },
      { increment: { attempts: 1 }, projection: {} },
    );
    if (claimed === undefined) return undefined;
    const { input, ...job } = claimed;
    return { job, ...(input && { input: parsedInput({ ...job, content: input }) }) };
  }

  /**
   * processing → completed, if the fence is still valid. The worker knows every field of the job except the time of the
   * last renewal of its lease, so the job is not read back.
   */
  async complete(
    claimed: Job,
    output: JobOutput,
    expiresAt: Date,
    report?: StoredFile,
  ): Promise<Job | undefined> {
    const now = this.#clock.now();
    const { _id, version } = claimed;
    const set = {
      state: 'completed',
      endedFrom: 'processing',
      completedAt: now,
      updatedAt: now,
      expiresAt,
      output,
      ...(report && { report }),
      error: null,
      processingTimeMs: now.getTime() - (claimed.startedAt ?? now).getTime(),
    } as const;
    const moved = await this.#live.updateOne({ _id, version }, { $set: set, $inc: { version: 1 } });
    return moved ? { ...claimed, ...set, version: version + 1 } : undefined;
  }

  /**
   * processing → queued, for another attempt `delayMs` milliseconds from now.
   *
   * @param onlyIfLeaseEnded for a sweep that takes the job from a worker, whose lease has ended as it was read: a renewed
   *   one remains valid.
   * @param phases of the failed attempt.
   */
  retryLater(
    claimed: Job,
    error: PlatenError,
    delayMs: number,
    onlyIfLeaseEnded = false,
    phases: Phases = null,
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
        ...afterAttempt(claimed, recorded(error), phases, now),
      },
      {
        increment: { crashes: isOwnCrash(error) ? 1 : 0 },
        ...(onlyIfLeaseEnded && { guard: { leaseExpiresAt: claimed.leaseExpiresAt } }),
      },
    );
  }

  /** processing → queued, as if the attempt had not begun: the worker has to stop. */
  giveBack(claimed: Job): Promise<Job | undefined> {
    const undone = { owner: null, leaseExpiresAt: null };
    return this.#move(claimed, 'queued', undone, { increment: { attempts: -1 } });
  }

  /** Any live state → failed, for jobs as for `#end`. @returns the failed jobs; the others have changed meanwhile. */
  fail(seen: readonly Job[], error: PlatenError, details?: AttemptDetails): Promise<Job[]> {
    return this.#end(seen, 'failed', recorded(error), details);
  }

  /** Any live state → cancelled, as `fail`. */
  cancel(seen: readonly Job[]): Promise<Job[]> {
    return this.#end(seen, 'cancelled', CANCELLED);
  }

  /**
   * Renews the leases of the jobs that a worker still holds, in one update.
   *
   * @returns the ids of the jobs that it does not hold any more (cancelled, or given to another worker).
   */
  async renew(owner: string, held: readonly SeenJob[], leaseMs: number): Promise<string[]> {
    const ids = idsOf(held);
    const leaseExpiresAt = new Date(this.#clock.now().getTime() + leaseMs);
    await this.#live.updateMany(
      { _id: { $in: ids }, owner, state: 'processing' },
      { $set: { leaseExpiresAt } },
    );
    const now = await this.#live.find({ _id: { $in: ids } }, { projection: { version: 1 } });
    const versions = new Map(now.map((job) => [job._id, job.version]));
    return held.filter((job) => versions.get(job._id) !== job.version).map((job) => job._id);
  }

  /** @param seen one job, or waiting ones read with the same version and retention and a unique `finalising`. */
  async #end(
    seen: readonly Job[],
    state: 'failed' | 'cancelled',
    error: JobError,
    { onlyIfLeaseEnded = false, phases = null, report }: AttemptDetails = {},
  ): Promise<Job[]> {
    const [job] = seen as [Job];
    const { finalising, startedAt } = job;
    const now = this.#clock.now();
    const set = {
      state,
      ...(!hasEnded(job.state) && { endedFrom: job.state }),
      ...(finalising && { finalising }),
      ...(report && { report }),
      completedAt: now,
      updatedAt: now,
      expiresAt: new Date(now.getTime() + job.retentionHours * HOUR_MS),
      error,
      owner: null,
      leaseExpiresAt: null,
      ...(job.state === 'processing' && {
        ...(startedAt && { processingTimeMs: now.getTime() - startedAt.getTime() }),
        ...(state === 'failed' && afterAttempt(job, error, phases, now)),
      }),
    };
    const guard = onlyIfLeaseEnded ? { leaseExpiresAt: job.leaseExpiresAt } : {};
    const moved = await this.#moveAll(seen, { $set: set, $inc: { version: 1 } }, guard);
    if (moved === seen.length) return seen.map((each) => ({ ...each, ...set, version: each.version + 1 }));
    if (moved === 0) return [];
    const found = await this.#live.find({ _id: { $in: idsOf(seen) } });
    const live = new Set(idsOf(found));
    // A job whose position was reached meanwhile is in the history. No job moves back.
    const passed = await this.#history.find({ _id: { $in: idsOf(seen).filter((id) => !live.has(id)) } });
    return [...found, ...passed].filter((each) => each.finalising === finalising);
  }

  /** One update of jobs that were all read with the same version. @returns the number of changed jobs. */
  async #moveAll(
    seen: readonly Job[],
    update: Update<Job>,
    guard: mongo.Filter<LiveJob> = {},
  ): Promise<number> {
    const [{ _id, version }] = seen as [Job];
    // One job by its exact key, which is one index lookup on every supported database.
    if (seen.length === 1) return Number(await this.#live.updateOne({ _id, version, ...guard }, update));
    return this.#live.updateMany({ _id: { $in: idsOf(seen) }, version, ...guard }, update);
  }

  /** The update of all other arrows. */
  #move(
    seen: SeenJob,
    state: JobState,
    set: Partial<Job>,
    more: {
      readonly increment?: Partial<Record<'attempts' | 'crashes', number>>;
      readonly guard?: mongo.Filter<LiveJob>;
      readonly projection?: Readonly<Record<string, never>>;
    } = {},
  ): Promise<LiveJob | undefined> {
    const now = this.#clock.now();
    const update: Update<Job> = {
      $set: { ...set, state, updatedAt: now },
      $inc: { version: 1, ...more.increment },
    };
    return this.#live.findOneAndUpdate(
      {
        _id: seen._id,
        version: seen.version,
        ...more.guard,
      },
      update,
      more.projection,
    );
  }
}

/** Adds the attempt that has just failed to the earlier failed attempts. */
function afterAttempt(
  { attempts, maxAttempts, startedAt, failedAttempts = [] }: Job,
  error: JobError,
  phases: Phases,
  endedAt: Date,
): Pick<Job, 'failedAttempts'> {
  const failed: FailedAttempt = { number: attempts, startedAt: startedAt ?? endedAt, endedAt, error, phases };
  return { failedAttempts: [...failedAttempts, failed].slice(-maxAttempts) };
}

function idsOf(jobs: readonly SeenJob[]): string[] {
  return jobs.map(({ _id }) => _id);
}

function recorded(error: PlatenError): JobError {
  return { code: error.code, message: error.message };
}
