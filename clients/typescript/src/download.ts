import { open, rename, rm } from 'node:fs/promises';
import type { Stream } from './api.ts';
import { pauseMs, retryAfterMs, sleep } from './backoff.ts';
import type { CallOptions } from './call-options.ts';
import { PlatenApiError, PlatenConnectionError } from './errors.ts';
import type { RetryOptions } from './retrying-fetch.ts';

export interface DownloadProgress {
  /** Bytes that are here. */
  readonly received: number;
  /** Bytes in all; undefined where the service does not say. */
  readonly total: number | undefined;
}

export interface DownloadOptions extends CallOptions {
  readonly onProgress?: (progress: DownloadProgress) => void;
}

/**
 * Downloads a file. A connection that breaks off is resumed where it broke, as long as the service can do that and has the
 * very same bytes still; a file at a path is begun anew otherwise, three times at most.
 *
 * @param path of the route, with a slash before it.
 * @param target a path, where the file appears once it is whole; or a stream, which is closed at the end.
 * @returns the size in bytes.
 * @throws PlatenApiError when the service refuses; PlatenConnectionError; whatever the target fails with. Nothing is left at
 * the path then, and the stream is aborted.
 */
export type Download = (
  path: string,
  target: string | WritableStream<Uint8Array>,
  options: DownloadOptions,
) => Promise<number>;

/**
 * @param stream sends a request once; reading the response's body fails when it falls silent.
 * @param retry the pauses between two tries, and how long after the last byte that came no further one begins.
 */
export function downloader(stream: Stream, retry: RetryOptions): Download {
  return (path, target, options) => {
    const source: Source = { ...options, path, stream, retry };
    return typeof target === 'string' ? downloadToFile(target, source) : downloadToStream(target, source);
  };
}

const MOST_RESTARTS = 3;

interface Source extends DownloadOptions {
  readonly path: string;
  readonly stream: Stream;
  readonly retry: RetryOptions;
}

interface Target {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Takes back what was written; undefined where that cannot be done. */
  readonly restart?: () => Promise<void>;
}

async function downloadToFile(path: string, source: Source): Promise<number> {
  const draft = `${path}.part`;
  let file = await open(draft, 'w');
  const target: Target = {
    write: (bytes) => file.writeFile(bytes),
    restart: async () => {
      await file.close();
      file = await open(draft, 'w');
    },
  };
  try {
    const size = await new Transfer(target, source).run();
    await file.close();
    await rename(draft, path);
    return size;
  } catch (error) {
    await file.close();
    await rm(draft, { force: true });
    throw error;
  }
}

async function downloadToStream(stream: WritableStream<Uint8Array>, source: Source): Promise<number> {
  const writer = stream.getWriter();
  try {
    const size = await new Transfer({ write: (bytes) => writer.write(bytes) }, source).run();
    await writer.close();
    return size;
  } catch (error) {
    await writer.abort(error).catch(() => undefined);
    throw error;
  }
}

/** A download that may take several connections. */
class Transfer {
  readonly #target: Target;
  readonly #source: Source;
  #received = 0;
  #total: number | undefined;
  #etag: string | undefined;
  /** When the last byte came, in epoch milliseconds. */
  #heardAt = Date.now();
  #triesSince = 0;
  #restarts = 0;

  constructor(target: Target, source: Source) {
    this.#target = target;
    this.#source = source;
  }

  async run(): Promise<number> {
    const { retry, signal } = this.#source;
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
    const { path, stream, retry, signal } = this.#source;
    const connection = new AbortController();
    try {
      const signals = signal === undefined ? [connection.signal] : [connection.signal, signal];
      const response = await stream(path, this.#resume(), AbortSignal.any(signals), retry);
      if (!response.ok) return await refused(response);
      if (this.#received > 0 && response.status !== 206) {
        if (this.#target.restart === undefined) return CHANGED;
        if (this.#restarts === MOST_RESTARTS) return BROKEN_EACH_TIME;
        await ofTarget(this.#target.restart());
        this.#restarts += 1;
        this.#received = 0;
      }
      if (this.#received === 0) this.#begin(response.headers);
      await this.#take(response);
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
      await ofTarget(this.#target.write(next.value));
      this.#received += next.value.byteLength;
      this.#heardAt = Date.now();
      this.#triesSince = 0;
      this.#source.onProgress?.({ received: this.#received, total: this.#total });
    }
  }

  #resume(): Record<string, string> {
    if (this.#received === 0 || this.#etag === undefined) return {};
    return { Range: `bytes=${this.#received}-`, 'If-Range': this.#etag };
  }

  /** Without a name for the bytes there is no going on, unless what was written can be taken back. */
  #broken(failure: unknown): Failure {
    const isStuck = this.#received > 0 && this.#etag === undefined && this.#target.restart === undefined;
    return { failure, isFinal: isStuck };
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
const BROKEN_EACH_TIME: Failure = { failure: new Error('The file broke off each time.'), isFinal: true };

/** The target took no more: no fault of the service's. */
class WriteError extends Error {
  constructor(cause: unknown) {
    super('not written', { cause });
  }
}

async function ofTarget(step: Promise<void>): Promise<void> {
  await step.catch((error: unknown) => {
    throw new WriteError(error);
  });
}

async function refused(response: Response): Promise<Failure> {
  const failure = new PlatenApiError(response, await response.json().catch(() => undefined));
  const isFinal = response.status !== 429 && response.status < 500;
  return { failure, isFinal, askedMs: retryAfterMs(response) };
}
