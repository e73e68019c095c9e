import { randomUUID } from 'node:crypto';
import type { Caller } from '../accounts/caller.ts';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import type { Dispatch } from '../jobs/dispatch.ts';
import { findJob, listJobs } from '../jobs/history.ts';
import type { InputMode, Job, JobInput, JobSource, JobState, OutputMode } from '../jobs/job.ts';
import { isOver } from '../jobs/job.ts';
import type { JobCollections } from '../jobs/job-collections.ts';
import { JobExists, type Lifecycle } from '../jobs/lifecycle.ts';
import type { RenderOptions } from '../jobs/render-options.ts';
import { AdmissionTimer } from '../limits/admission-timer.ts';
import type { OutputStore, StoredOutput } from '../store/outputs/output-store.ts';
import { type Quota, type QuotaPeriod, quotaPeriod, quotaResetDate } from '../usage/quota.ts';
import type { Settlement } from '../usage/settlement.ts';
import type { EndWaiter, WaitResult } from './end-waiter.ts';

/** Besides a delay that was asked for. */
const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_ATTEMPTS = 3;
/** Moves of one job by others that a cancel follows before it gives up. */
const CANCEL_TRIES = 10;

/** A render request whose form has been checked, and whose template has been found. */
export interface RenderOrder {
  readonly source: JobSource;
  readonly options: RenderOptions;
  readonly output: OutputMode;
  /** Already made safe. */
  readonly fileName: string;
  readonly execution: 'sync' | 'async';
  /** Given when the job's id was chosen beforehand, with an idempotency key. */
  readonly jobId?: string;
}

export interface Accepted {
  readonly jobId: string;
  /** Resolves when the job is over or will be retried, or the sync window has closed. Async orders: at once. */
  readonly outcome: Promise<WaitResult>;
  /** Ends the wait early, when the caller is gone. */
  stopWaiting(): void;
}

interface Reservation {
  readonly period: QuotaPeriod;
  /** False when an earlier try of the same request made it. */
  readonly isNew: boolean;
}

export interface RenderServiceParts {
  readonly collections: JobCollections;
  readonly lifecycle: Lifecycle;
  readonly dispatch: Dispatch;
  readonly outputs: OutputStore;
  readonly waiter: EndWaiter;
  readonly clock: Clock;
  /** How long a synchronous order waits, in milliseconds. */
  readonly syncWaitMs: number;
  readonly quota: Quota;
  readonly settlement: Settlement;
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
    const { clock } = this.#parts;
    const { plan } = caller;
    const wanted = order.options.timeoutMs;
    if (wanted !== undefined && wanted > plan.maxTimeoutMs) {
      throw new PlatenError('PLAN_LIMIT', `options.timeoutMs: the plan allows at most ${plan.maxTimeoutMs}.`);
    }
    const jobId = order.jobId ?? randomUUID();
    const now = clock.now();
    // Beside the writing of the input and the taking of a slot, and before the job is written.
    const reserving = timer.time('quota', () => this.#reserve(caller, jobId, now));
    // It may fail before anybody waits for it.
    reserving.catch(() => undefined);
    const job = newJob(jobId, caller, order, now);
    const input: JobInput = {
      _id: jobId,
      accountId: caller.accountId,
      source: order.source,
      options: order.options,
      timeoutMs: wanted ?? Math.min(DEFAULT_TIMEOUT_MS + (order.options.delayMs ?? 0), plan.maxTimeoutMs),
      maxOutputBytes: plan.maxOutputSizeBytes,
      createdAt: now,
    };
    const accepted = this.#expect(caller.accountId, jobId, order.execution);
    try {
      await this.#dispatch(job, input, reserving, timer);
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
    const accepted = this.#expect(accountId, jobId, execution);
    const job = await findJob(this.#parts.collections, accountId, jobId, this.#parts.clock);
    if (job !== undefined && !isOver(job.state)) return accepted;
    accepted.stopWaiting();
    if (job !== undefined)
      return { jobId, outcome: Promise.resolve({ kind: 'ended', job }), stopWaiting() {} };
    // A slot that was taken for it and never used would be swept up later; the order need not wait for that.
    await this.#parts.dispatch.releaseUnused(accountId, jobId);
    return undefined;
  }

  /** @throws PlatenError NOT_FOUND for a job that is missing, another account's, or past its retention. */
  async get(accountId: string, jobId: string): Promise<Job> {
    const job = await findJob(this.#parts.collections, accountId, jobId, this.#parts.clock);
    if (job === undefined) throw new PlatenError('NOT_FOUND', `There is no job ${jobId}.`);
    return job;
  }

  list(
    accountId: string,
    query: { states?: readonly JobState[]; limit: number; offset: number; newestFirst: boolean },
  ): Promise<{ total: number; jobs: Job[] }> {
    return listJobs(this.#parts.collections, { accountId, ...query }, this.#parts.clock);
  }

  /**
   * Cancels a job: its slot is free and its render stops.
   *
   * @throws PlatenError NOT_FOUND; JOB_ENDED when it is over already.
   */
  async cancel(accountId: string, jobId: string): Promise<Job> {
    const { lifecycle, dispatch } = this.#parts;
    for (let tries = 0; tries < CANCEL_TRIES; tries += 1) {
      const job = await this.get(accountId, jobId);
      if (isOver(job.state))
        throw new PlatenError('JOB_ENDED', `The job is ${job.state} already.`, { jobId });
      const cancelled = await lifecycle.cancel(job);
      if (cancelled === undefined) continue;
      await dispatch.settle(cancelled);
      return cancelled;
    }
    throw new PlatenError('UNAVAILABLE', 'The job keeps changing; try again.', {
      jobId,
      retryAfterSeconds: 1,
    });
  }

  /** Cancels a job that no worker has begun; one that runs or is over is left as it is. */
  async cancelIfNotStarted(accountId: string, jobId: string): Promise<void> {
    const { collections, clock, lifecycle, dispatch } = this.#parts;
    const job = await findJob(collections, accountId, jobId, clock);
    if (job === undefined || (job.state !== 'queued' && job.state !== 'dispatched')) return;
    const cancelled = await lifecycle.cancel(job);
    if (cancelled !== undefined) await dispatch.settle(cancelled);
  }

  /** @throws PlatenError NOT_FOUND unless the job is completed and its PDF is there. */
  async openOutput(job: Job): Promise<StoredOutput> {
    const stored = job.output === null ? undefined : await this.#parts.outputs.get(job.output.key);
    if (stored === undefined)
      throw new PlatenError('NOT_FOUND', 'The job has no file to download.', { jobId: job._id });
    return stored;
  }

  /** Listens for the end of a job before it is submitted, so that no event can be missed. */
  #expect(accountId: string, jobId: string, execution: RenderOrder['execution']): Accepted {
    if (execution === 'async')
      return { jobId, outcome: Promise.resolve({ kind: 'timeout' }), stopWaiting() {} };
    const { waiter, syncWaitMs } = this.#parts;
    const wait = waiter.expect(jobId, syncWaitMs, () => this.#progress(accountId, jobId));
    return { jobId, outcome: wait.result, stopWaiting: wait.stop };
  }

  /** @throws PlatenError QUOTA_EXCEEDED. @returns undefined for a test key, which uses none. */
  async #reserve(caller: Caller, jobId: string, now: Date): Promise<Reservation | undefined> {
    if (caller.mode === 'test') return undefined;
    const period = quotaPeriod(now);
    const { monthlyRenders } = caller.plan;
    const reserved = await this.#parts.quota.reserve(caller.accountId, period, jobId, monthlyRenders);
    if (reserved !== 'used up') return { period, isNew: reserved === 'made' };
    const reset = quotaResetDate(now).toISOString().slice(0, 10);
    throw new PlatenError(
      'QUOTA_EXCEEDED',
      `The ${monthlyRenders} PDFs of this month are used up until ${reset}.`,
    );
  }

  async #dispatch(
    job: Job,
    input: JobInput,
    reserving: Promise<Reservation | undefined>,
    timer: AdmissionTimer,
  ): Promise<void> {
    const { dispatch, quota, settlement } = this.#parts;
    try {
      await dispatch.submit(job, input, { timer, granted: reserving });
    } catch (error) {
      // A job that was refused uses nothing, and one that exists has a reservation of its own. After any other error
      // the job may be there or not: the sweep looks for it, and settles the reservation.
      const unused = error instanceof PlatenError || error instanceof JobExists;
      const reservation = await reserving.catch(() => undefined);
      if (unused && reservation?.isNew) {
        await quota.undo(job.accountId, reservation.period, job._id).catch(() => {});
      }
      throw error;
    }
    const reservation = await reserving;
    if (reservation === undefined) return;
    settlement.accepted({ accountId: job.accountId, period: reservation.period, jobId: job._id });
  }

  async #progress(accountId: string, jobId: string): Promise<'ended' | 'retrying' | undefined> {
    const job = await findJob(this.#parts.collections, accountId, jobId, this.#parts.clock);
    if (job === undefined || isOver(job.state)) return 'ended';
    return job.state === 'queued' && job.error !== null ? 'retrying' : undefined;
  }
}

function newJob(jobId: string, caller: Caller, order: RenderOrder, now: Date): Job {
  const interactive = order.execution === 'sync';
  return {
    _id: jobId,
    version: 1,
    state: 'queued',
    accountId: caller.accountId,
    apiKeyId: caller.apiKeyId,
    plan: caller.planName,
    class: interactive ? 'interactive' : 'bulk',
    priority: interactive ? 0 : 1,
    test: caller.mode === 'test',
    quotaPeriod: caller.mode === 'test' ? null : quotaPeriod(now),
    inputMode: order.source.mode satisfies InputMode,
    outputMode: order.output,
    fileName: order.fileName,
    format: order.options.format ?? 'A4',
    createdAt: now,
    updatedAt: now,
    dispatchedAt: null,
    startedAt: null,
    completedAt: null,
    notBefore: now,
    attempts: 0,
    maxAttempts: MAX_ATTEMPTS,
    crashes: 0,
    owner: null,
    leaseExpiresAt: null,
    error: null,
    retentionHours: caller.plan.retentionHours,
    expiresAt: null,
    output: null,
    processingTimeMs: 0,
  };
}
