import { Readable } from 'node:stream';
import { PDF, XML } from './media-type.ts';

/** A stored PDF that is being read. */
export interface StoredOutput {
  readonly size: number;
  readonly stream: Readable;
  /** All of it, where it is in memory anyway: then the stream need not be read, which costs more than the bytes do. */
  readonly bytes?: Uint8Array;
}

/** An output that is in memory as a whole. */
export function inMemory(bytes: Uint8Array): StoredOutput {
  return {
    size: bytes.byteLength,
    bytes,
    get stream() {
      return Readable.from([bytes]);
    },
  };
}

/**
 * Stores finished PDFs until their retention ends.
 *
 * Keys come from `outputKey`. Each attempt of a job writes its own key, so that a worker that has lost its lease can
 * never overwrite the output of another one.
 */
export interface OutputStore {
  /**
   * Durable when it resolves. A store whose disk is full, or that cannot be reached, waits instead of failing, so that no
   * finished PDF is lost.
   *
   * @param signal ends that wait.
   * @param sha256 of the PDF, in hexadecimal, where it is known.
   */
  put(key: OutputKey, pdf: Uint8Array, signal?: AbortSignal, sha256?: string): Promise<void>;
  /** Why no new work should be accepted because of this store, for example a full disk; undefined without a problem. */
  problem(): string | undefined;
  /** @returns undefined when nothing is stored under the key (any more). */
  get(key: OutputKey): Promise<StoredOutput | undefined>;
  /** Deleting a missing key is no error. */
  delete(...keys: readonly OutputKey[]): Promise<void>;
  /**
   * Deletes every output that expired before `now`, including outputs that crashes have left. @returns the number of
   * outputs.
   */
  deleteExpired(now: Date): Promise<number>;
  /**
   * An address at which the store itself sends the output to whoever holds the address.
   *
   * @returns undefined when the store has none that is valid for so long; most have none at all.
   */
  address?(key: OutputKey, link: OutputLink): Promise<string | undefined>;
}

/** What an address of an output promises. */
export interface OutputLink {
  /** The name under which the file is saved. */
  readonly fileName: string;
  readonly now: Date;
  /** How long it is valid. */
  readonly seconds: number;
}

/**
 * `<expiry hour since the epoch>/<job>.<fence>.pdf`, for a report `….json`, for an e-invoice `….xml`. Outputs that expire together are stored
 * together.
 */
export type OutputKey = string & { readonly __brand: 'OutputKey' };

export const HOUR_MS = 3_600_000;

/** The hour is rounded up, so that nothing is deleted too early. */
export function outputKey(
  jobId: string,
  fence: number,
  expiresAt: Date,
  kind: 'pdf' | 'json' | 'xml' = 'pdf',
): OutputKey {
  return `${Math.ceil(expiresAt.getTime() / HOUR_MS)}/${jobId}.${fence}.${kind}` as OutputKey;
}

/** What is stored under the key. */
export function mediaTypeOf(key: OutputKey): string {
  if (key.endsWith('.json')) return 'application/json';
  return key.endsWith('.xml') ? XML : PDF;
}

/** The end of the hour in the key. */
export function expiryOf(key: OutputKey): Date {
  return new Date(Number.parseInt(key, 10) * HOUR_MS);
}
