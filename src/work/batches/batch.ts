import { createHash } from 'node:crypto';
import type { ErrorCode } from '../../infra/errors/registry.ts';
import type { TraceContext } from '../../infra/tracing/trace-context.ts';
import type { PlanName } from '../../tenants/plans/plan.ts';
import type { Period } from '../../tenants/plans/quota-period.ts';
import type { InputMode } from '../inputs/inputs.ts';

/*
 * The life of a batch. Its items are ordinary jobs, which name their batch; the batch counts how they ended.
 *
 *   admitted ──▶ expanding ──▶ open ──▶ ended: completed or cancelled
 *         │          └───────────────▶ failed: its reservations were given back before its jobs were written
 *         └────▶ reading ─────▶ open ──▶ ended: completed, cancelled or, when its source could not be read whole, failed
 *
 * expanding   the batch is durable and accepted; its jobs are being written, chunk by chunk
 * reading     the batch is durable and accepted; the rows of its source become jobs while others are rendered
 *             (source/source-reader.ts)
 * open        all jobs are written; they wait and run like any other job
 * ended       every item has ended, whatever its outcome
 */
export type BatchPhase = 'expanding' | 'reading' | 'open' | 'completed' | 'failed' | 'cancelled';

/** The phases of a batch that has not ended. */
export const RUNNING: BatchPhase[] = ['expanding', 'reading', 'open'];

/** Values of `status` that callers see. */
export const BATCH_STATUSES = ['queued', 'processing', 'completed', 'failed', 'cancelled'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** How the items of one chunk have ended so far. Every number only grows. */
export interface ChunkTally {
  readonly completed?: number;
  readonly failed?: number;
  /** Bytes of the PDFs. */
  readonly bytes?: number;
  /** The number of failed items by error code. */
  readonly codes?: Readonly<Record<string, number>>;
}

/** How many items of a batch had ended at a time. */
export interface PaceMark {
  readonly ended: number;
  readonly at: Date;
}

/** Why rows of a source are not read, for now or for good. */
export interface SourceProblem {
  readonly code: ErrorCode;
  readonly message: string;
}

/** What a batch whose items are the rows of a file knows of that file. */
export interface BatchSource {
  /** Rows of the file; absent until they are counted. `total` is 0 until then. */
  readonly rows?: number;
  /** Rows that have become items. */
  readonly read: number;
  /** Rows that are rendered before the batch waits for its release; absent without a proof. */
  readonly proof?: number;
  readonly releasedAt?: Date;
  /** When the owner paused it; absent while it goes on. */
  readonly pausedAt?: Date;
  /** Why no row is read at the moment; it goes on by itself. Absent otherwise. */
  readonly waitsFor?: SourceProblem;
  /** Why no further row is read. `total` is then the number of rows that have been. */
  readonly error?: SourceProblem;
  /** Whatever has not been read by then is not rendered. */
  readonly deadline: Date;
}

export interface Batch {
  readonly _id: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  /** The name of the plan under which it was accepted. */
  readonly plan: PlanName;
  /** Whether it was submitted with a test key. */
  readonly test: boolean;
  readonly quotaPeriod: Period | null;
  readonly phase: BatchPhase;
  /** Of a batch whose items are the rows of a file; absent otherwise. */
  readonly source?: BatchSource;
  /** Set while it has to be reconciled: while it is being expanded or cancelled. */
  readonly busy?: true;
  /** The end of the lease of the process that reconciles it. */
  readonly busyUntil: Date;
  readonly total: number;
  /** Items in each chunk except the last. */
  readonly chunkSize: number;
  /** Chunks whose jobs have been written. */
  readonly expanded: number;
  /** The number of the first item's position in its queue. */
  readonly firstPosition: number;
  /** The number of parts that the inputs of its items share. */
  readonly sharedParts: number;
  /** Bytes of these parts; absent once they are deleted. */
  readonly sharedBytes?: number;
  /** Bytes of its record, which are kept until the record is deleted. */
  readonly recordBytes: number;
  readonly notes: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly webhookUrl: string | null;
  /** Of the account when the batch was requested, as of a job; absent for 0. */
  readonly ownerFence?: number;
  /** The trace of the request; absent when it was not traced. */
  readonly trace?: TraceContext;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When the owner cancelled it. */
  readonly cancelledAt: Date | null;
  /** When the first item began; absent before any has ended. */
  readonly startedAt?: Date;
  readonly finishedAt: Date | null;
  readonly retentionHours: number;
  /** True when each PDF is deleted once it is delivered, and no input is kept after its end; absent otherwise. */
  readonly keepsNothing?: true;
  /** Until when its outputs can be fetched. While it runs, the retention counted from its creation. */
  readonly expiresAt: Date;
  /** When its outputs are to be deleted; absent while it runs, and once they are deleted. */
  readonly purgeAt?: Date;
  /** When its record is to be deleted; absent while it runs. */
  readonly forgetAt?: Date;
  /** By the number of the chunk. */
  readonly tallies?: Readonly<Record<string, ChunkTally>>;
  /** Its progress, by the part that had ended; absent before any item has ended. */
  readonly marks?: Readonly<Record<string, PaceMark>>;
  /** The outcome of its callback; absent without a callback, and while the outcome is open. */
  readonly callback?: 'delivered' | 'failed';
  /** Seconds that it was expected to take when it was admitted. */
  readonly expectedSeconds: number;
}

/** The submitted fields of an item, besides its input. */
export interface BatchItem {
  /** The caller's own id of the item. */
  readonly id: string;
  /** Already sanitised. */
  readonly fileName: string;
  readonly inputMode: InputMode;
  readonly format: string;
  /** True when its options request a report; absent otherwise. */
  readonly wantsReport?: true;
  /** True when its options encrypt the PDF; absent otherwise. */
  readonly isProtected?: true;
  /** Where its PDF is put; absent without an upload. */
  readonly uploadUrl?: string;
  /** Bytes of its own input, without shared parts. */
  readonly inputBytes: number;
  /** Of a row that could not become a job: why. It has failed without one. */
  readonly fault?: SourceProblem;
}

/** Items that are admitted at once at most: they are all written before the response. */
export const MAX_LISTED_ITEMS = 10_000;
/** The most chunks of a batch: its record has a tally for each. */
const MAX_CHUNKS = 100;
const LEAST_CHUNK = 50;
/** Characters that the id of a batch shares with its jobs' ids: of a UUID of version 7, the time and 12 more bits. */
const SHARED = 18;
/** Where a batch's id has twelve random bits. */
const TAG = { from: 24, to: 27 };
/** Hex digits of an item's position, and of the hash of its own id. */
const POSITION_DIGITS = 5;
const HASH_DIGITS = 7;

/** The fields of a batch that determine the ids of its jobs, together with the items. */
type BatchIds = Pick<Batch, '_id'>;

/** Items in each chunk of a batch with `total` items. */
export function chunkSizeOf(total: number): number {
  return Math.max(LEAST_CHUNK, Math.ceil(total / MAX_CHUNKS));
}

export function chunkCount({ total, chunkSize }: Pick<Batch, 'total' | 'chunkSize'>): number {
  return Math.ceil(total / chunkSize);
}

/**
 * The id of an item's job. It is derived from the batch and the item, so that a repeated write finds the existing job,
 * and a job's id shows its batch. Jobs of a batch are neighbours in the database's trees, in the order in which they
 * are served (docs/decisions/0178-parts-of-indexes.md).
 *
 * @param position of the item in its batch, from 0.
 */
export function itemJobId(batch: BatchIds, position: number, itemId: string): string {
  const hash = createHash('sha256').update(`${batch._id}/${itemId}`).digest('hex');
  const digits = position.toString(16).padStart(POSITION_DIGITS, '0');
  return `${prefixOf(batch)}-${digits}${hash.slice(0, HASH_DIGITS)}`;
}

/** Whether a job is an item of a batch, by its id alone. */
export function isItemOf(batch: BatchIds, jobId: string): boolean {
  return jobId.startsWith(prefixOf(batch));
}

function prefixOf({ _id }: BatchIds): string {
  return `${_id.slice(0, SHARED)}-8${_id.slice(TAG.from, TAG.to)}`;
}

export function totalsOf({ tallies = {} }: Pick<Batch, 'tallies'>) {
  const codes: Record<string, number> = {};
  let completed = 0;
  let failed = 0;
  let bytes = 0;
  for (const tally of Object.values(tallies)) {
    completed += tally.completed ?? 0;
    failed += tally.failed ?? 0;
    bytes += tally.bytes ?? 0;
    for (const [code, count] of Object.entries(tally.codes ?? {})) codes[code] = (codes[code] ?? 0) + count;
  }
  return { completed, failed, bytes, codes };
}

/** Items that have not ended. */
export function pendingOf(batch: Pick<Batch, 'total' | 'tallies'>): number {
  const { completed, failed } = totalsOf(batch);
  return Math.max(0, batch.total - completed - failed);
}

export function hasFinished({ phase }: Pick<Batch, 'phase'>): boolean {
  return phase === 'completed' || phase === 'failed' || phase === 'cancelled';
}

/** As what a batch ends whose items have all ended. */
export function endOf({
  cancelledAt,
  source,
}: Pick<Batch, 'cancelledAt' | 'source'>): 'completed' | 'cancelled' | 'failed' {
  if (cancelledAt !== null) return 'cancelled';
  return source?.error === undefined ? 'completed' : 'failed';
}

/** Whether it failed before its jobs were written: it has none, and what it had reserved was given back. */
export function isVoid({ phase, source }: Pick<Batch, 'phase' | 'source'>): boolean {
  return phase === 'failed' && source === undefined;
}

/** Items of a batch with this outcome, as its record counts them. */
export function tallied(batch: Batch, status: 'completed' | 'failed'): number {
  if (isVoid(batch)) return status === 'failed' ? batch.total : 0;
  return Object.values(batch.tallies ?? {}).reduce((sum, tally) => sum + (tally[status] ?? 0), 0);
}
