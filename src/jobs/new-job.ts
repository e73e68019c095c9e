import { v7 } from 'uuid';
import type { Caller } from '../accounts/caller.ts';
import { poolOf } from '../plans/plan.ts';
import { quotaPeriod } from '../usage/quota-period.ts';
import type { NewJob } from './admission.ts';
import type { Job, JobInput, JobSource, OutputMode } from './job.ts';
import type { RenderOptions } from './render-options.ts';

/** Besides a delay that was asked for. */
const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_ATTEMPTS = 3;

/** What is to be rendered, and how it is to be answered. */
export interface JobOrder {
  readonly jobId: string;
  readonly source: JobSource;
  readonly options: RenderOptions;
  readonly output: OutputMode;
  /** Already made safe. */
  readonly fileName: string;
  /** Whether the caller waits for it. */
  readonly execution: 'sync' | 'async';
  /** Where its callback goes; already checked. */
  readonly webhookUrl?: string;
}

/** What is decided of a job before it is let in. */
export type JobFacts = Pick<
  Job,
  | '_id'
  | 'accountId'
  | 'apiKeyId'
  | 'plan'
  | 'pool'
  | 'class'
  | 'test'
  | 'quotaPeriod'
  | 'inputMode'
  | 'outputMode'
  | 'fileName'
  | 'format'
  | 'createdAt'
  | 'retentionHours'
  | 'item'
  | 'inputBytes'
  | 'webhookUrl'
>;

/** The paper that a job prints on unless its options say another. */
export const DEFAULT_FORMAT = 'A4';

/**
 * A UUID of version 7, which begins with the time: jobs that are made one after the other lie beside one another in the
 * database's trees, and so do those that are served one after the other.
 */
export function newJobId(): string {
  return v7();
}

/** The job of an order, and its input, under the plan that the caller has now. */
export function newJob(order: JobOrder, caller: Caller, now: Date): NewJob {
  const { accountId, plan } = caller;
  const test = caller.mode === 'test';
  const job = queuedJob({
    _id: order.jobId,
    accountId,
    apiKeyId: caller.apiKeyId,
    plan: caller.planName,
    pool: poolOf(plan),
    class: order.execution === 'sync' ? 'interactive' : 'bulk',
    test,
    quotaPeriod: test ? null : quotaPeriod(now, caller.quotaWindow),
    inputMode: order.source.mode,
    outputMode: order.output,
    fileName: order.fileName,
    format: order.options.format ?? DEFAULT_FORMAT,
    createdAt: now,
    retentionHours: plan.retentionHours,
    ...(order.webhookUrl !== undefined && { webhookUrl: order.webhookUrl }),
  });
  return { job, input: newInput(order, caller, now) };
}

/** A job in its first state, that nothing has happened to yet. */
export function queuedJob(facts: JobFacts): Job {
  return {
    ...facts,
    version: 1,
    state: 'queued',
    updatedAt: facts.createdAt,
    dispatchedAt: null,
    startedAt: null,
    completedAt: null,
    notBefore: facts.createdAt,
    attempts: 0,
    maxAttempts: MAX_ATTEMPTS,
    crashes: 0,
    owner: null,
    leaseExpiresAt: null,
    error: null,
    expiresAt: null,
    output: null,
    processingTimeMs: 0,
  };
}

/** What a job is to render, within the bounds of the plan that the caller has now. */
export function newInput(
  { jobId, source, options }: Pick<JobOrder, 'jobId' | 'source' | 'options'>,
  { accountId, plan }: Pick<Caller, 'accountId' | 'plan'>,
  now: Date,
): JobInput {
  const defaultMs = Math.min(DEFAULT_TIMEOUT_MS + (options.delayMs ?? 0), plan.maxTimeoutMs);
  return {
    _id: jobId,
    accountId,
    source,
    options,
    timeoutMs: options.timeoutMs ?? defaultMs,
    maxOutputBytes: plan.maxOutputSizeBytes,
    maxStoredBytes: plan.maxStoredBytes,
    createdAt: now,
  };
}
