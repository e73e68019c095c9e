import type { JobClass } from '../../infra/bus/bus.ts';
import type { ErrorCode } from '../../infra/errors/registry.ts';
import type { MediaType } from '../../infra/outputs/media-type.ts';
import type { OutputKey } from '../../infra/outputs/output-store.ts';
import type { TraceContext } from '../../infra/tracing/trace-context.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import type { RenderReport } from '../../render/report/phases.ts';
import type { Period } from '../../tenants/plans/quota-period.ts';
import type { InputMode, JobSource } from '../inputs/inputs.ts';

/*
 * The life of a job. Each arrow is one function of store/transitions.ts, and one atomic update.
 *
 *                      accept                       retryLater, giveBack
 *                        │        ┌──────────────────────────────────────────────┐
 *                        ▼        ▼                                              │
 *                     ┌─────────────┐  dispatch  ┌────────────┐  claim   ┌───────┴────┐  complete  ┌───────────┐
 *                     │   queued    ├───────────▶│ dispatched ├─────────▶│ processing ├───────────▶│ completed │
 *                     └──┬───────┬──┘            └─┬───────┬──┘          └─┬───────┬──┘            └───────────┘
 *                        │       │                 │       │               │       │
 *                        │       └──── cancel ─────┼───────┴───────────────┼───────┴──────────────▶ cancelled
 *                        └──────────── fail ───────┴───────────────────────┴──────────────────────▶ failed
 *
 * queued      waits for a plan slot at its position in a queue of its account, or for the time of its next attempt
 * dispatched  holds a plan slot; its pointer is on the bus
 * processing  holds a plan slot and a lease; a worker renders it
 * the rest    have ended: job-follow-up.ts has the steps that follow; the last ones move the job to the history
 *
 * `version` grows with every arrow, and every arrow requires the version that it was decided on. So if two processes
 * decide at the same time, one succeeds and the other finds nothing to change. The version with which a worker claimed
 * a job is its fence.
 */
type LiveState = 'queued' | 'dispatched' | 'processing';
export type EndState = 'completed' | 'failed' | 'cancelled';
export type JobState = LiveState | EndState;

export type OutputMode = 'binary' | 'url';

export interface JobError {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The result of a completed render. */
export interface JobOutput {
  readonly key: OutputKey;
  /** Bytes; 0 once it is deleted. */
  readonly size: number;
  /** Its bytes before it was deleted, because it had been delivered; absent while it is kept. */
  readonly deletedSize?: number;
  readonly pages: number;
  /** Hex SHA-256 of its bytes. */
  readonly sha256: string;
  readonly mediaType?: MediaType;
  /** The XML of an e-invoice, which is in the PDF as well. */
  readonly einvoice?: StoredFile;
  /** True when the PDF is sealed; absent otherwise. */
  readonly isSealed?: true;
  /** Kept for as long as the output. Phases in whole milliseconds. */
  readonly report?: RenderReport;
}

/** A file of a job beside its PDF, kept in the output store for as long as the job. */
export interface StoredFile {
  readonly key: OutputKey;
  /** Bytes. */
  readonly size: number;
}

/** An attempt that failed; it is repeated, or the job has failed. */
export interface FailedAttempt {
  /** 1 for the first. */
  readonly number: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly error: JobError;
  /** Milliseconds in each phase until the failure; null when unknown, for example after the loss of a worker. */
  readonly phases: RenderReport['phases'] | null;
}

/** A link by which anybody can download a PDF. */
export interface SharedLink {
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Who made it; null when that is not known. */
  readonly personId: string | null;
  /** Noted once a minute at most; null before the first download. */
  readonly lastOpenedAt: Date | null;
}

/** The item of a batch that a job renders. */
interface BatchItemRef {
  readonly batchId: string;
  /** The caller's own id of the item. */
  readonly id: string;
  /** The number of the item in the batch, from 0. */
  readonly index: number;
  readonly chunk: number;
}

export interface Job {
  readonly _id: string;
  readonly version: number;
  readonly state: JobState;
  readonly accountId: string;
  readonly apiKeyId: string;
  /** The name of the plan under which it was accepted. */
  readonly plan: string;
  /** The pool whose workers may run it: the plan's pool when the job was accepted, and again when it got its slot. */
  readonly pool: string;
  readonly class: JobClass;
  /** The address, on the bus, of the process whose caller waits for it; absent when none does. */
  readonly replyTo?: number;
  /** Its position in a queue (priority-queues.ts); absent while it has a slot, or its next attempt is not due. */
  readonly position?: string;
  /** The state in which it ended; absent while it is live. */
  readonly endedFrom?: LiveState;
  /** Of a job that ended while it waited: identifies the attempt that ended it (see `finalisingName`). */
  readonly finalising?: string;
  /** The item of a batch that it renders; absent for a job that was submitted by itself. */
  readonly item?: BatchItemRef;
  /** Its template when it was accepted; absent without one. */
  readonly templateId?: string;
  /** The job that it repeats. */
  readonly retryOf?: string;
  /** One entry for each failed attempt, at most `maxAttempts`; absent without any. */
  readonly failedAttempts?: readonly FailedAttempt[];
  /** The address of its callback; absent without one. */
  readonly webhookUrl?: string;
  /** Where its PDF is put once it is completed; absent without an upload. */
  readonly uploadUrl?: string;
  /** Of the account when the job was requested; absent for 0. Of a lower fence than the account's, it is not called back. */
  readonly ownerFence?: number;
  /** The trace of the request; absent when it was not traced. */
  readonly trace?: TraceContext;
  /** True for jobs of test keys: they carry a watermark and use no quota. */
  readonly test: boolean;
  /** The period of the quota from which it has reserved a PDF; null when it uses no quota. */
  readonly quotaPeriod: Period | null;
  readonly inputMode: InputMode;
  readonly outputMode: OutputMode;
  readonly fileName: string;
  /** The requested or default paper format. */
  readonly format: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When it last got a plan slot; null while queued for the first time. */
  readonly dispatchedAt: Date | null;
  /** When the current or last attempt began. */
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  /** Queued jobs are not dispatched before this time. */
  readonly notBefore: Date;
  /** Attempts begun. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Attempts in which this document ended the browser; the second one quarantines the document. */
  readonly crashes: number;
  /** The worker that holds the lease. */
  readonly owner: string | null;
  readonly leaseExpiresAt: Date | null;
  /** The error of the last attempt; null for a completed job. */
  readonly error: JobError | null;
  /** Of its record. */
  readonly retentionHours: number;
  /** True when its PDF is deleted once it is delivered, and its input once it has ended; absent otherwise. */
  readonly keepsNothing?: true;
  /** End of the retention window; null until the job has ended. */
  readonly expiresAt: Date | null;
  readonly output: JobOutput | null;
  /** Of a job that failed, in the history: when, and its id; see `failureKey`. */
  readonly failureKey?: string;
  /** True when its options request a report; absent otherwise. */
  readonly wantsReport?: true;
  /** True when its options encrypt the PDF; absent otherwise. */
  readonly isProtected?: true;
  /** Absent when none was requested or the last attempt left none: `stored-report.ts` says what is shown. */
  readonly report?: StoredFile;
  /** The links to its PDF by their ids, until they are revoked; absent before the first. In the history alone. */
  readonly sharedLinks?: Readonly<Record<string, SharedLink>>;
  /** Bytes of its stored input; absent before it is admitted. */
  readonly inputBytes?: number;
  /** Milliseconds from the start of the last attempt to its end. */
  readonly processingTimeMs: number;
}

export interface JobInput {
  readonly _id: string;
  readonly accountId: string;
  readonly source: JobSource;
  readonly options: RenderOptions;
  /** Milliseconds from claim to deadline: the requested or default time, within the plan. */
  readonly timeoutMs: number;
  /** Largest PDF in bytes. */
  readonly maxOutputBytes: number;
  /** The bytes that its account may store. */
  readonly maxStoredBytes: number;
  readonly createdAt: Date;
}

/** Sorts failed jobs by the time of their failure. One field of them alone, so that its index has no other jobs. */
export function failureKey(failedAt: Date, jobId = ''): string {
  return `${failedAt.toISOString()}/${jobId}`;
}

export function hasEnded(state: JobState): state is EndState {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}

/** The ledger's name for a waiting job that is about to be ended; the job's id when no attempt has marked it. */
export function finalisingName({ _id, finalising }: Pick<Job, '_id' | 'finalising'>): string {
  return finalising === undefined ? _id : `${_id}~${finalising}`;
}

/** The id of the job from such a name. */
export function jobOfFinalising(name: string): string {
  return name.split('~')[0]!;
}

/** The stored bytes of a job: its report and its input, or its PDF and e-invoice instead of the input once it is completed. */
export function keptBytes(
  job: Pick<Job, 'state' | 'output' | 'inputBytes' | 'report' | 'keepsNothing'>,
): number {
  const inputBytes = job.keepsNothing ? 0 : job.inputBytes;
  const bytes = job.state === 'completed' ? job.output?.size : inputBytes;
  return (bytes ?? 0) + (job.report?.size ?? 0) + (job.output?.einvoice?.size ?? 0);
}

/** The PDF of a job while it is kept. */
export function keptOutput({ output }: Pick<Job, 'output'>): JobOutput | null {
  return output?.deletedSize === undefined ? output : null;
}

/** Bytes of the PDF of a job, whether it is kept or not; 0 without one. */
export function pdfSize({ output }: Pick<Job, 'output'>): number {
  return output?.deletedSize ?? output?.size ?? 0;
}

/** Approximate bytes of the record of a callback or an upload, whatever its content. */
const DELIVERY_BYTES = 1024;
/** Of the responses that a callback keeps. */
const RESPONSES_BYTES = 7 * 1024;

/** The stored bytes of an upload to this address, for months after the end of its job. */
export function uploadBytes(uploadUrl: string): number {
  return DELIVERY_BYTES + Buffer.byteLength(uploadUrl);
}

/** The stored bytes of a callback to this address, for months after the end that it reports. */
export function callbackBytes(webhookUrl: string): number {
  return uploadBytes(webhookUrl) + RESPONSES_BYTES;
}
