import { createHash } from 'node:crypto';
import type { JobError } from '../jobs/job.ts';

export const CALLBACK_EVENTS = ['batch.completed', 'render.completed', 'render.failed'] as const;
export type CallbackEvent = (typeof CALLBACK_EVENTS)[number];

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** What a callback says. Its addresses are paths here; whoever sends it puts the service's own address before them. */
export interface CallbackPayload {
  readonly event: CallbackEvent;
  /** The batch, or the job of a single render. */
  readonly jobId: string;
  readonly status: string;
  readonly statusUrl: string;
  /** Of a batch. */
  readonly zipUrl?: string;
  /** Of a render that completed. */
  readonly fileUrl?: string;
  readonly completedAt: string;
  /** Of a render that failed. */
  readonly error?: JobError;
}

/** One callback, from the end of what it tells of until it is forgotten. */
export interface Delivery {
  /** Follows from what it tells of: see `deliveryIdOf`. */
  readonly _id: string;
  readonly accountId: string;
  readonly url: string;
  /** Host and port of the URL. */
  readonly host: string;
  /** Account and host together: who shares one share of the sender. */
  readonly lane: string;
  readonly payload: CallbackPayload;
  /**
   * What it takes of the account's room until it is forgotten; absent where what it tells of has taken it, as batches do,
   * and of an older version.
   */
  readonly bytes?: number;
  readonly state: DeliveryState;
  /** Grows with every claim and every change by hand: the fence of whoever sends it. */
  readonly version: number;
  /** When it is to be sent, or sent again if its sender is not heard of; absent when nothing more is to be done. */
  readonly due?: Date;
  /** Attempts whose outcome is known, since it was ordered or last asked for by hand. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly deliveredAt: Date | null;
  /** What the receiver answered last; null when it did not. */
  readonly responseStatus: number | null;
  /** Why the last attempt failed, in words for the account; null when it did not. */
  readonly error: string | null;
}

/**
 * The id of the one callback that follows the end of a job or batch. It follows from that, so ordering the callback
 * again finds it there, and every attempt of it carries the same id.
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

/** A callback that is to be sent at once. */
export function newDelivery(accountId: string, url: string, payload: CallbackPayload, now: Date): Delivery {
  const { host } = new URL(url);
  return {
    _id: deliveryIdOf(payload.jobId),
    accountId,
    url,
    host,
    lane: `${accountId}/${host}`,
    payload,
    state: 'pending',
    version: 1,
    due: now,
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
