import type { Caller } from '../accounts/caller.ts';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { type Admission, JobExists } from '../jobs/admission.ts';
import { endEarly } from '../jobs/end-early.ts';
import { hasEnded, type Job } from '../jobs/job.ts';
import type { JobEnds } from '../jobs/job-ends.ts';
import type { Ledger } from '../jobs/ledger/ledger.ts';
import { type JobOrder, newJob, newJobId } from '../jobs/new-job.ts';
import type { JobStore } from '../jobs/store/job-store.ts';
import type { JobListQuery } from '../jobs/store/listing.ts';
import { AdmissionTimer } from '../limits/admission-timer.ts';
import type { OutputStore, StoredOutput } from '../store/outputs/output-store.ts';
import type { EndWaiter, WaitResult } from './end-waiter.ts';

/** Moves of one job by others that a cancel follows before it gives up. */
const CANCEL_TRIES = 10;

/** A render request whose form has been checked, and whose template has been found. */
export interface RenderOrder extends Omit<JobOrder, 'jobId'> {
  /** Given when the job's id was chosen beforehand, with an idempotency key. */
  readonly jobId?: string;
}

/** Whose jobs are asked about: a test key sees those of test keys, a live key those of live keys. */
export type JobOwner = Pick<Caller, 'accountId' | 'mode'>;

export interface Accepted {
  readonly jobId: string;
  /** Resolves when the job has ended or will be retried, or the sync window has closed. Async orders: at once. */
  readonly outcome: Promise<WaitResult>;
  /** Ends the wait early, when the caller is gone. */
  stopWaiting(): void;
}

export interface RenderServiceParts {
  readonly store: JobStore;
  readonly ledger: Ledger;
  readonly admission: Admission;
  readonly ends: JobEnds;
  readonly outputs: OutputStore;
  readonly waiter: EndWaiter;
  readonly clock: Clock;
  /** How long a synchronous order waits, in milliseconds. */
  readonly syncWaitMs: number;
}

/** The API's side of renders: takes orders, answers for jobs. What it needs to know of the outside is passed in. */
export class RenderService {
  readonly #parts: RenderServiceParts;

  constructor(parts: RenderServiceParts) {
    this.#parts = parts;
  }

  /**
   * Takes an order. When it resolves the job is durable; before that nothing has been promised.
   *
   * @param timer measures what letting the order in takes.
   * @throws PlatenError PLAN_LIMIT for a longer time-out than the plan's; QUOTA_EXCEEDED; TOO_MANY_WAITING.
   */
  async submit(caller: Caller, order: RenderOrder, timer = new AdmissionTimer()): Promise<Accepted> {
    const { clock, admission } = this.#parts;
    const { plan } = caller;
    const wanted = order.options.timeoutMs;
    if (wanted !== undefined && wanted > plan.maxTimeoutMs) {
      throw new PlatenError('PLAN_LIMIT', `options.timeoutMs: the plan allows at most ${plan.maxTimeoutMs}.`);
    }
    const jobId = order.jobId ?? newJobId();
    const accepted = this.#expect(caller.accountId, jobId, order.execution);
    try {
      await admission.admit(caller, [newJob({ ...order, jobId }, caller, clock.now())], timer);
    } catch (error) {
      // Begun by an earlier try of the same request: there is nothing left to do but to wait for it.
      if (error instanceof JobExists) return accepted;
      accepted.stopWaiting();
      throw error;
    }
    timer.admitted();
    return accepted;
  }

  /**
   * Goes on with an order whose first request died, under the job id that was chosen for it.
   *
   * @returns the job to wait for; undefined when it was never accepted, and is to be submitted.
   */
  async resume(
    accountId: string,
    jobId: string,
    execution: RenderOrder['execution'],
  ): Promise<Accepted | undefined> {
    const { store, admission } = this.#parts;
    const accepted = this.#expect(accountId, jobId, execution);
    const job = await store.find(accountId, jobId);
    if (job !== undefined && (execution === 'async' || !hasEnded(job.state))) return accepted;
    accepted.stopWaiting();
    if (job !== undefined)
      return { jobId, outcome: Promise.resolve({ kind: 'ended', job }), stopWaiting() {} };
    // What was taken for it and never used would be swept up later; the order need not wait for that.
    await admission.abandon(accountId, jobId);
    return undefined;
  }

  /** @throws PlatenError NOT_FOUND for a job that is missing, somebody else's, or past its retention. */
  async get({ accountId, mode }: JobOwner, jobId: string): Promise<Job> {
    const job = await this.ofAccount(accountId, jobId);
    if (job.test !== (mode === 'test')) throw missing(jobId);
    return job;
  }

  /** For whoever may see all that an account has. @throws PlatenError NOT_FOUND as `get` does. */
  async ofAccount(accountId: string, jobId: string): Promise<Job> {
    const job = await this.#parts.store.find(accountId, jobId);
    if (job === undefined) throw missing(jobId);
    return job;
  }

  list(
    { accountId, mode }: JobOwner,
    query: Omit<JobListQuery, 'accountId' | 'test'>,
  ): Promise<{ total: number; jobs: Job[] }> {
    return this.#parts.store.list({ accountId, test: mode === 'test', ...query });
  }

  /**
   * Cancels a job: its slot is free and its render stops.
   *
   * @throws PlatenError NOT_FOUND; JOB_ENDED when it has ended already.
   */
  async cancel(owner: JobOwner, jobId: string): Promise<Job> {
    for (let tries = 0; tries < CANCEL_TRIES; tries += 1) {
      const job = await this.get(owner, jobId);
      if (hasEnded(job.state))
        throw new PlatenError('JOB_ENDED', `The job is ${job.state} already.`, { jobId });
      const cancelled = await this.#cancel(job);
      if (cancelled !== undefined) return cancelled;
    }
    throw new PlatenError('UNAVAILABLE', 'The job keeps changing; try again.', {
      jobId,
      retryAfterSeconds: 1,
    });
  }

  /** Cancels a job that no worker has begun; one that runs or has ended is left as it is. */
  async cancelIfNotStarted(accountId: string, jobId: string): Promise<void> {
    const job = await this.#parts.store.find(accountId, jobId);
    if (job?.state === 'queued' || job?.state === 'dispatched') await this.#cancel(job);
  }

  /** @throws PlatenError NOT_FOUND unless the job is completed and its PDF is there. */
  async openOutput(job: Job): Promise<StoredOutput> {
    const stored = job.output === null ? undefined : await this.#parts.outputs.get(job.output.key);
    if (stored === undefined)
      throw new PlatenError('NOT_FOUND', 'The job has no file to download.', { jobId: job._id });
    return stored;
  }

  #cancel(job: Job): Promise<Job | undefined> {
    const { transitions } = this.#parts.store;
    return endEarly(this.#parts, job, (seen) => transitions.cancel(seen));
  }

  /** Listens for the end of a job before it is submitted, so that no event can be missed. */
  #expect(accountId: string, jobId: string, execution: RenderOrder['execution']): Accepted {
    if (execution === 'async')
      return { jobId, outcome: Promise.resolve({ kind: 'timeout' }), stopWaiting() {} };
    const { waiter, syncWaitMs } = this.#parts;
    const wait = waiter.expect(jobId, syncWaitMs, () => this.#progress(accountId, jobId));
    return { jobId, outcome: wait.result, stopWaiting: wait.stop };
  }

  async #progress(accountId: string, jobId: string): Promise<'ended' | 'retrying' | undefined> {
    const job = await this.#parts.store.find(accountId, jobId);
    if (job === undefined || hasEnded(job.state)) return 'ended';
    return job.state === 'queued' && job.error !== null ? 'retrying' : undefined;
  }
}

function missing(jobId: string): PlatenError {
  return new PlatenError('NOT_FOUND', `There is no job ${jobId}.`);
}
