import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { type Backoff, pauseMs, retryAfterMs, sleep } from './backoff.ts';
import { PlatenApiError, PlatenConnectionError } from './errors.ts';
import type { RetryOptions } from './retrying-fetch.ts';

export interface DownloadProgress {
  /** Bytes that are here. */
  readonly received: number;
  /** Bytes in all; undefined where the service does not say. */
  readonly total: number | undefined;
}

export interface Download {
  /** Asks for the file once, with further headers. The answer's body is read as it comes, and fails when it falls silent. */
  readonly ask: (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>;
  /** The pauses between two tries, and how long after the last byte that came no further one begins. */
  readonly retry: Backoff & Pick<RetryOptions, 'giveUpAfterMs'>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/**
 * Downloads a file to a path, where it appears once it is whole.
 *
 * @returns its size in bytes.
 * @throws as `downloadTo` does; nothing is left at the path then.
 */
export async function downloadToFile(path: string, download: Download): Promise<number> {
  const draft = `${path}.part`;
  try {
    const size = await downloadTo(Writable.toWeb(createWriteStream(draft)), download);
    await rename(draft, path);
    return size;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/**
 * Downloads a file to a stream, which is closed then. A connection that breaks off is taken up where it broke, as long as
 * the service has the very same bytes still.
 *
 * @returns the size in bytes.
 * @throws PlatenApiError when the service refuses; PlatenConnectionError. The stream is aborted then.
 */
export async function downloadTo(target: WritableStream<Uint8Array>, download: Download): Promise<number> {
  const writer = target.getWriter();
  try {
    const size = await new Transfer(writer, download).run();
    await writer.close();
    return size;
  } catch (error) {
    await writer.abort(error).catch(() => undefined);
    throw error;
  }
}

/** A download that may take several connections. */
class Transfer {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #download: Download;
  #received = 0;
  #total: number | undefined;
  #etag: string | undefined;
  /** When the last byte came, in epoch milliseconds. */
  #heardAt = Date.now();
  #triesSince = 0;

  constructor(writer: WritableStreamDefaultWriter<Uint8Array>, download: Download) {
    this.#writer = writer;
    this.#download = download;
  }

  async run(): Promise<number> {
    const { retry, signal } = this.#download;
    for (;;) {
      this.#triesSince += 1;
      const outcome = await this.#connect();
      if (outcome === 'whole') return this.#received;
      const wait = pauseMs(retry, this.#triesSince, outcome.askedMs);
      if (outcome.isFinal || Date.now() + wait > this.#heardAt + retry.giveUpAfterMs) {
        const { failure } = outcome;
        throw failure instanceof PlatenApiError
          ? failure
          : new PlatenConnectionError(this.#triesSince, failure);
      }
      await sleep(wait, signal);
    }
  }

  async #connect(): Promise<'whole' | Failure> {
    const { ask, signal } = this.#download;
    const connection = new AbortController();
    try {
      const signals = signal === undefined ? [connection.signal] : [connection.signal, signal];
      const answer = await ask(this.#resume(), AbortSignal.any(signals));
      if (!answer.ok) return await refused(answer);
      if (this.#received > 0 && answer.status !== 206) return CHANGED;
      if (this.#received === 0) this.#begin(answer.headers);
      await this.#take(answer);
      if (this.#total === undefined || this.#received >= this.#total) return 'whole';
      return this.#broken(new Error('The file broke off.'));
    } catch (failure) {
      signal?.throwIfAborted();
      if (failure instanceof WriteError) throw failure.cause;
      return this.#broken(failure);
    } finally {
      connection.abort();
    }
  }

  #begin(headers: Headers): void {
    const length = headers.get('content-length');
    this.#total = length === null ? undefined : Number(length);
    this.#etag = headers.get('etag') ?? undefined;
  }

  async #take({ body }: Response): Promise<void> {
    const reader = body?.getReader();
    for (;;) {
      const next = await reader?.read();
      if (next?.value === undefined) return;
      await this.#writer.write(next.value).catch((error: unknown) => {
        throw new WriteError(error);
      });
      this.#received += next.value.byteLength;
      this.#heardAt = Date.now();
      this.#triesSince = 0;
      this.#download.onProgress?.({ received: this.#received, total: this.#total });
    }
  }

  #resume(): Record<string, string> {
    if (this.#received === 0 || this.#etag === undefined) return {};
    return { Range: `bytes=${this.#received}-`, 'If-Range': this.#etag };
  }

  /** What was written cannot be taken back, so without a name for the bytes there is no going on. */
  #broken(failure: unknown): Failure {
    return { failure, isFinal: this.#received > 0 && this.#etag === undefined };
  }
}

interface Failure {
  readonly failure: unknown;
  /** Another try cannot mend it. */
  readonly isFinal: boolean;
  readonly askedMs?: number | undefined;
}

const CHANGED: Failure = {
  failure: new Error('The file has changed while it was downloaded.'),
  isFinal: true,
};

/** The target took no more: no fault of the service's. */
class WriteError extends Error {
  constructor(cause: unknown) {
    super('not written', { cause });
  }
}

async function refused(answer: Response): Promise<Failure> {
  const failure = new PlatenApiError(answer, await answer.json().catch(() => undefined));
  const isFinal = answer.status !== 429 && answer.status < 500;
  return { failure, isFinal, askedMs: retryAfterMs(answer) };
}
