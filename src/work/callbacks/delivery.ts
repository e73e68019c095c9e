import { createHash } from 'node:crypto';
import type { Due } from '../../infra/store/due-queue.ts';
import type { TraceContext } from '../../infra/tracing/trace-context.ts';
import type { JobError, JobOutput } from '../jobs/job.ts';
import type { KeptResponse } from './kept-response.ts';

export const CALLBACK_EVENTS = [
  'batch.completed',
  'render.completed',
  'render.failed',
  // Reports nothing: requested to test whether callbacks arrive.
  'webhook.test',
] as const;
export type CallbackEvent = (typeof CALLBACK_EVENTS)[number];

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The content of a callback. Its addresses are paths here; the sender puts the service's own address before them. */
export interface CallbackPayload {
  readonly event: CallbackEvent;
  /** The batch, or the job of a single render; for a test an id that belongs to nothing. */
  readonly jobId: string;
  readonly status: string;
  readonly statusUrl: string;
  readonly zipUrl?: string;
  /** Of a render that completed. */
  readonly fileUrl?: string;
  readonly completedAt: string;
  /** Of a render that failed. */
  readonly error?: JobError;
}

/** One callback, from the event that it reports until it is deleted. */
export interface Delivery extends Due {
  /** Follows from the event that it reports: see `deliveryIdOf`. */
  readonly _id: string;
  readonly accountId: string;
  readonly url: string;
  /** Host and port of the URL. */
  readonly host: string;
  /** Account and host together: the owner of one reservation of the sender. */
  readonly pair: string;
  readonly payload: CallbackPayload;
  /** The PDF that it puts to the URL, of an upload; absent in callbacks. */
  readonly upload?: Pick<JobOutput, 'key' | 'size'>;
  /** True of an upload after which the PDF is deleted; absent otherwise. */
  readonly keepsNothing?: true;
  /** Of the account when the work was requested; absent for 0. Of a lower fence than the account's, it is not sent. */
  readonly ownerFence?: number;
  /** The trace of the work that it reports; absent when that was not traced. */
  readonly trace?: TraceContext;
  /** The bytes of the account's storage that it takes until deleted; absent where a batch counts them. */
  readonly bytes?: number;
  readonly state: DeliveryState;
  /** Attempts with a known result, since it was scheduled or last repeated by hand. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly deliveredAt: Date | null;
  /** The status of the receiver's last response; null without one. */
  readonly responseStatus: number | null;
  /** Why the last attempt failed, in words for the account; null when it did not. */
  readonly error: string | null;
  /** The last attempts, at most MAX_RECENT_ATTEMPTS; absent before the first. */
  readonly recentAttempts?: readonly DeliveryAttempt[];
}

/** The result of one attempt to send a callback. */
export interface DeliveryAttempt {
  readonly at: Date;
  readonly responseStatus: number | null;
  /** Null when it arrived. */
  readonly error: string | null;
  /** Milliseconds from its start to the end of the response; absent in records of earlier versions. */
  readonly durationMs?: number;
  /** Of the last KEPT_RESPONSES attempts that had a response. */
  readonly response?: KeptResponse;
}

/** As many as are made before a callback is given up, and a few that were requested by hand. */
export const MAX_RECENT_ATTEMPTS = 20;
/** Of the last ones: one that failed, and the one that has arrived. `callbackBytes` has room for as many. */
export const KEPT_RESPONSES = 2;

/**
 * The id of the one callback that follows the end of a job or batch. It follows from the job's or batch's id, so
 * scheduling the callback again finds it there, and every attempt has the same id.
 */
export function deliveryIdOf(jobId: string): string {
  const hash = createHash('sha256').update(`callback/${jobId}`).digest('hex');
  const [a, b, c, d, e] = [
    [0, 8],
    [8, 12],
    [13, 16],
    [17, 20],
    [20, 32],
  ].map(([from, to]) => hash.slice(from, to));
  return `${a}-${b}-8${c}-8${d}-${e}`;
}

/** A callback that is due at once. */
export function newDelivery(
  { accountId, ownerFence, trace }: Pick<Delivery, 'accountId' | 'ownerFence' | 'trace'>,
  url: string,
  payload: CallbackPayload,
  now: Date,
): Delivery {
  const { host } = new URL(url);
  return {
    _id: deliveryIdOf(payload.jobId),
    accountId,
    url,
    host,
    pair: `${accountId}/${host}`,
    payload,
    ...(ownerFence !== undefined && { ownerFence }),
    ...(trace !== undefined && { trace }),
    state: 'pending',
    fence: 0,
    dueAt: now,
    attempts: 0,
    createdAt: now,
    lastAttemptAt: null,
    deliveredAt: null,
    responseStatus: null,
    error: null,
  };
}

/** The body of a callback, byte for byte the same with every attempt. */
export function bodyOf(payload: CallbackPayload, publicUrl: string): string {
  const base = publicUrl.replace(/\/+$/, '');
  const { statusUrl, zipUrl, fileUrl } = payload;
  return JSON.stringify({
    ...payload,
    statusUrl: base + statusUrl,
    ...(zipUrl !== undefined && { zipUrl: base + zipUrl }),
    ...(fileUrl !== undefined && { fileUrl: base + fileUrl }),
  });
}
