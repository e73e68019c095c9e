import type { Readable } from 'node:stream';

/** A stored PDF that is being read. */
export interface StoredOutput {
  readonly size: number;
  readonly stream: Readable;
}

/**
 * Where finished PDFs are kept until their retention ends.
 *
 * Keys come from `outputKey`; each attempt of a job writes its own key, so that a worker which has lost its lease can
 * never overwrite what another one stored.
 */
export interface OutputStore {
  /**
   * Durable when it resolves. A store whose disk is full waits for room rather than fail: a PDF that is finished is not
   * thrown away.
   *
   * @param signal ends that wait.
   */
  put(key: OutputKey, pdf: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** Why no new work should be taken on its account, a full disk above all; undefined when there is nothing. */
  problem(): string | undefined;
  /** undefined when there is nothing under the key (any more). */
  get(key: OutputKey): Promise<StoredOutput | undefined>;
  /** Deleting what is not there is no error. */
  delete(key: OutputKey): Promise<void>;
  /** Deletes everything whose expiry lies before `now`; returns how many went. Catches what crashes left behind. */
  deleteExpired(now: Date): Promise<number>;
}

/** `<expiry hour since the epoch>/<job>.<fence>.pdf`, of a report `….json`: what is to be deleted together lies together. */
export type OutputKey = string & { readonly __brand: 'OutputKey' };

export const HOUR_MS = 3_600_000;

/** The hour is rounded up, so that nothing goes before its time. */
export function outputKey(
  jobId: string,
  fence: number,
  expiresAt: Date,
  kind: 'pdf' | 'json' = 'pdf',
): OutputKey {
  return `${Math.ceil(expiresAt.getTime() / HOUR_MS)}/${jobId}.${fence}.${kind}` as OutputKey;
}

/** The end of the hour that the key is filed under. */
export function expiryOf(key: OutputKey): Date {
  return new Date(Number.parseInt(key, 10) * HOUR_MS);
}
