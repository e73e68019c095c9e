import { v7 } from 'uuid';
import type { TraceContext } from '../../infra/tracing/trace-context.ts';
import { wantsReport } from '../../render/options/all/implied-options.ts';
import { given, type RenderOptions } from '../../render/options/all/render-options.ts';
import { addedMs } from '../../render/options/all/stages.ts';
import { format } from '../../render/options/format.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import { type Plan, poolOf } from '../../tenants/plans/plan.ts';
import { quotaPeriod } from '../../tenants/plans/quota-period.ts';
import type { JobSource } from '../inputs/inputs.ts';
import type { NewJob } from './admission.ts';
import type { Job, JobInput, OutputMode } from './job.ts';

/** Without the time that options such as a delay add. */
const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_ATTEMPTS = 3;
/** The paper format of a job that prints nothing. */
const AS_SENT = 'as sent';

/** The document to render, and the form of the response. */
export interface JobSubmission {
  readonly jobId: string;
  readonly source: JobSource;
  readonly options: RenderOptions;
  readonly output: OutputMode;
  /** Already sanitised. */
  readonly fileName: string;
  /** Whether the caller waits for the job. */
  readonly execution: 'sync' | 'async';
  /** The job that this one repeats. */
  readonly retryOf?: string;
  /** The address of its callback; already checked. */
  readonly webhookUrl?: string;
  /** Where its PDF is put; already checked. */
  readonly uploadUrl?: string;
  readonly trace?: TraceContext | undefined;
  /** Where its outcome is sent, if the caller waits; absent when no other process sends any. */
  readonly replyTo?: number | undefined;
}

/** How long the record of work is kept that keeps nothing else, in hours: its outcome, without PDF and input. */
const RECORD_HOURS = 24;

/** For how long work is kept. @param hours of its PDFs; 0: they are deleted once they are delivered. */
export function retentionOf(hours: number): Pick<Job, 'retentionHours' | 'keepsNothing'> {
  return hours > 0 ? { retentionHours: hours } : { retentionHours: RECORD_HOURS, keepsNothing: true };
}

/** The options in the record of a job: the paper format, whether a report is wanted, and whether the PDF is encrypted. */
export function optionFacts(options: RenderOptions): Pick<Job, 'format' | 'wantsReport' | 'isProtected'> {
  return {
    format: given(options)(format)!,
    ...(wantsReport(options) && { wantsReport: true as const }),
    ...(options.protection && { isProtected: true as const }),
  };
}

/**
 * A UUID of version 7, which begins with the time: jobs that are created one after another are neighbours in the
 * database's trees, and so are jobs that are served one after another.
 */
export function newJobId(): string {
  return v7();
}

/** Options that were accepted under another plan: a longer timeout than this plan allows is shortened. */
export function withinPlan(
  options: RenderOptions,
  { maxTimeoutMs }: Pick<Plan, 'maxTimeoutMs'>,
): RenderOptions {
  const { timeoutMs } = options;
  if (timeoutMs === undefined || timeoutMs <= maxTimeoutMs) return options;
  return { ...options, timeoutMs: maxTimeoutMs };
}

/** The job of a submission and its input, under the caller's present plan. */
export function newJob(submission: JobSubmission, caller: Caller, now: Date): NewJob {
  const { accountId, plan } = caller;
  const test = caller.mode === 'test';
  const job = queuedJob({
    _id: submission.jobId,
    accountId,
    apiKeyId: caller.apiKeyId,
    plan: caller.planName,
    pool: poolOf(plan),
    class: submission.execution === 'sync' ? 'interactive' : 'bulk',
    test,
    quotaPeriod: test ? null : quotaPeriod(now, caller.quotaWindow),
    inputMode: submission.source.mode,
    outputMode: submission.output,
    fileName: submission.fileName,
    ...optionFacts(submission.options),
    // A PDF that exists already keeps its pages.
    ...(submission.source.mode === 'pdf' && { format: AS_SENT }),
    createdAt: now,
    ...retentionOf(plan.retentionHours),
    ...(submission.webhookUrl !== undefined && { webhookUrl: submission.webhookUrl }),
    ...(submission.uploadUrl !== undefined && { uploadUrl: submission.uploadUrl }),
    ...('templateId' in submission.source && { templateId: submission.source.templateId }),
    ...(submission.retryOf !== undefined && { retryOf: submission.retryOf }),
    ...(caller.ownerFence !== undefined && { ownerFence: caller.ownerFence }),
    ...(submission.trace !== undefined && { trace: submission.trace }),
    ...(submission.execution === 'sync' &&
      submission.replyTo !== undefined && { replyTo: submission.replyTo }),
  });
  return { job, input: newInput(submission, caller, now) };
}

/** What every job has in its first state. */
const NEW = {
  version: 1,
  state: 'queued',
  dispatchedAt: null,
  startedAt: null,
  completedAt: null,
  attempts: 0,
  maxAttempts: MAX_ATTEMPTS,
  crashes: 0,
  owner: null,
  leaseExpiresAt: null,
  error: null,
  expiresAt: null,
  output: null,
  processingTimeMs: 0,
} as const satisfies Partial<Job>;

/** A job in its first state. */
export function queuedJob(facts: Omit<Job, keyof typeof NEW | 'updatedAt' | 'notBefore'>): Job {
  return { ...facts, ...NEW, updatedAt: facts.createdAt, notBefore: facts.createdAt };
}

/** The input of a job, within the limits of the caller's present plan. */
export function newInput(
  { jobId, source, options }: Pick<JobSubmission, 'jobId' | 'source' | 'options'>,
  { accountId, plan }: Pick<Caller, 'accountId' | 'plan'>,
  now: Date,
): JobInput {
  const defaultMs = Math.min(DEFAULT_TIMEOUT_MS + addedMs(options), plan.maxTimeoutMs);
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
