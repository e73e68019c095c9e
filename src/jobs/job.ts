import type { JobClass } from '../bus/bus.ts';
import type { ErrorCode } from '../errors/registry.ts';
import type { RenderOptions } from '../options/core/render-options.ts';
import type { MediaType } from '../pdf/media-type.ts';
import type { RenderReport } from '../report/phases.ts';
import type { OutputKey } from '../store/outputs/output-store.ts';
import type { Period } from '../usage/quota-period.ts';

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
 * the rest    have ended: job-ends.ts has what follows, and in the end the job is moved to the history
 *
 * `version` grows with every arrow, and every arrow requires the version it was decided on. So of two processes that decide
 * at the same time one wins and the other finds nothing to change; the version a worker claimed with is its fence.
 */
export type LiveState = 'queued' | 'dispatched' | 'processing';
export type EndState = 'completed' | 'failed' | 'cancelled';
export type JobState = LiveState | EndState;

export type InputMode = 'html' | 'url' | 'template';
export type OutputMode = 'binary' | 'url';

export interface JobError {
  readonly code: ErrorCode;
  readonly message: string;
}

/** What a completed render left behind. */
export interface JobOutput {
  readonly key: OutputKey;
  /** Bytes. */
  readonly size: number;
  readonly pages: number;
  /** Hex SHA-256 of its bytes. */
  readonly sha256: string;
  /** Absent in outputs of an older version, which are PDFs. */
  readonly mediaType?: MediaType;
  /** Kept for as long as the output; absent in outputs of an older version. Phases in whole milliseconds. */
  readonly report?: RenderReport;
}

/** The report of a job's last attempt, kept where outputs are and for as long as its job. */
export interface StoredReport {
  readonly key: OutputKey;
  /** Bytes. */
  readonly size: number;
}

/** An attempt that failed: it is repeated, or the job has failed with it. */
export interface FailedAttempt {
  /** 1 for the first. */
  readonly number: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly error: JobError;
  /** Milliseconds, up to where it failed; null where it is not known, as of a worker that was lost. */
  readonly phases: RenderReport['phases'] | null;
}

/** Which item of which batch a job is. */
export interface BatchItemRef {
  readonly batchId: string;
  /** The caller's own id of the item. */
  readonly id: string;
  /** Its number in the batch, from 0. */
  readonly index: number;
  /** The chunk of the batch that it is counted in. */
  readonly chunk: number;
}

export interface Job {
  readonly _id: string;
  readonly version: number;
  readonly state: JobState;
  readonly accountId: string;
  readonly apiKeyId: string;
  /** The name of the plan that it was accepted under. */
  readonly plan: string;
  /** The pool whose workers may run it: as it was when the job was accepted, and again when it got its slot. */
  readonly pool: string;
  readonly class: JobClass;
  /** Where it waits (see priority-queues.ts); absent when it has a slot, or waits for the time of its next attempt. */
  readonly place?: string;
  /** The state that it ended in; absent while it is live. */
  readonly endedFrom?: LiveState;
  /** Of a job that ended while it waited: which of several tries has ended it (see `finalisingName`). */
  readonly leaving?: string;
  /** The item of a batch that it is; absent for a job that was asked for by itself. */
  readonly item?: BatchItemRef;
  /** The template that it was accepted with; absent without one, and in jobs of an older version. */
  readonly templateId?: string;
  /** The job that it was asked for to repeat. */
  readonly retryOf?: string;
  /** One for each attempt that failed, `maxAttempts` at most; absent without any, and in jobs of an older version. */
  readonly failedAttempts?: readonly FailedAttempt[];
  /** Where its callback goes; absent when it has none. */
  readonly webhookUrl?: string;
  /** True for jobs of test keys: they carry a watermark and use no quota. */
  readonly test: boolean;
  /** The period whose quota it has reserved a PDF of; null when it uses none. */
  readonly quotaPeriod: Period | null;
  readonly inputMode: InputMode;
  readonly outputMode: OutputMode;
  readonly fileName: string;
  /** Paper format as asked for or by default. */
  readonly format: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When it last got a plan slot; null while queued for the first time. */
  readonly dispatchedAt: Date | null;
  /** When the present or last attempt began. */
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  /** Queued jobs are not dispatched before this time. */
  readonly notBefore: Date;
  /** Attempts begun. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Attempts that ended with the browser's death by this document's doing: the second one quarantines it. */
  readonly crashes: number;
  /** The worker that holds the lease. */
  readonly owner: string | null;
  readonly leaseExpiresAt: Date | null;
  /** Of the last attempt; null of a completed job. */
  readonly error: JobError | null;
  readonly retentionHours: number;
  /** End of the retention window; null until the job has ended. */
  readonly expiresAt: Date | null;
  readonly output: JobOutput | null;
  /** True when its options ask for a report; absent otherwise, and in jobs of an older version. */
  readonly wantsReport?: true;
  /** Absent when none was asked for, or its last attempt has left none: `stored-report.ts` has what is shown then. */
  readonly report?: StoredReport;
  /** Bytes of its input as it is kept; absent in jobs of an older version, whose inputs are not counted. */
  readonly inputBytes?: number;
  /** Milliseconds from the start of the last attempt to its end. */
  readonly processingTimeMs: number;
}

/** What is to be rendered. Stored separately from the job: read once, and may be megabytes. */
export type JobSource =
  | { readonly mode: 'html'; readonly html: string }
  | { readonly mode: 'url'; readonly url: string }
  | {
      readonly mode: 'template';
      readonly templateId: string;
      /** The version the job was accepted with; its content comes along, whatever becomes of the template. */
      readonly templateVersionId: string;
      readonly content: string;
      readonly data: Record<string, unknown>;
    };

export interface JobInput {
  readonly _id: string;
  readonly accountId: string;
  readonly source: JobSource;
  readonly options: RenderOptions;
  /** Milliseconds from claim to deadline: as asked for or by default, within the plan. */
  readonly timeoutMs: number;
  /** Largest PDF in bytes. */
  readonly maxOutputBytes: number;
  /** What its account may keep, in bytes; absent in inputs of an older version. */
  readonly maxStoredBytes?: number;
  readonly createdAt: Date;
}

export function hasEnded(state: JobState): state is EndState {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}

/** Whether its options ask for a report. Jobs of an older version say so by having one. */
export function asksForReport({ wantsReport, report }: Pick<Job, 'wantsReport' | 'report'>): boolean {
  return wantsReport ?? report !== undefined;
}

/** The name by which a waiting job stands in the ledger before it is ended; its id, where no try has marked it. */
export function finalisingName({ _id, leaving }: Pick<Job, '_id' | 'leaving'>): string {
  return leaving === undefined ? _id : `${_id}~${leaving}`;
}

/** The id of the job that such a name is about. */
export function jobOfFinalising(name: string): string {
  return name.split('~')[0]!;
}

/** Bytes that are kept of a job: its input, and once it is completed its PDF in place of that; and its report. */
export function keptBytes(job: Pick<Job, 'state' | 'output' | 'inputBytes' | 'report'>): number {
  const bytes = job.state === 'completed' ? job.output?.size : job.inputBytes;
  return (bytes ?? 0) + (job.report?.size ?? 0);
}

/** What the record of a callback takes whatever it says, in bytes, nearly. */
const CALLBACK_BYTES = 1024;

/** Bytes that are kept of a callback to this address, for months after the end that it reports. */
export function callbackBytes(webhookUrl: string): number {
  return CALLBACK_BYTES + Buffer.byteLength(webhookUrl);
}
