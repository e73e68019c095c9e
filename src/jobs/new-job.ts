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
}

/** The job of an order, and its input, under the plan that the caller has now. */
export function newJob(order: JobOrder, caller: Caller, now: Date): NewJob {
  const { accountId, plan } = caller;
  const test = caller.mode === 'test';
  const job: Job = {
    _id: order.jobId,
    version: 1,
    state: 'queued',
    accountId,
    apiKeyId: caller.apiKeyId,
    plan: caller.planName,
    pool: poolOf(plan),
    class: order.execution === 'sync' ? 'interactive' : 'bulk',
    test,
    quotaPeriod: test ? null : quotaPeriod(now),
    inputMode: order.source.mode,
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
    retentionHours: plan.retentionHours,
    expiresAt: null,
    output: null,
    processingTimeMs: 0,
  };
  const input: JobInput = {
    _id: order.jobId,
    accountId,
    source: order.source,
    options: order.options,
    timeoutMs:
      order.options.timeoutMs ??
      Math.min(DEFAULT_TIMEOUT_MS + (order.options.delayMs ?? 0), plan.maxTimeoutMs),
    maxOutputBytes: plan.maxOutputSizeBytes,
    createdAt: now,
  };
  return { job, input };
}
