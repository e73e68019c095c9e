import type { Stream } from './api.ts';
import { pauseMs, retryAfterMs, sleep } from './backoff.ts';
import { within } from './call.ts';
import type { CallOptions } from './call-options.ts';
import type { Connection } from './connection.ts';
import { apiError, PlatenApiError, PlatenConnectionError } from './errors.ts';
import type { RetryOptions } from './retrying-fetch.ts';
import { type DownloadTarget, type Sink, sinkOf } from './target.ts';

export interface DownloadProgress {
  /** Bytes that are here. */
  readonly received: number;
  /** Bytes in all; undefined where the service does not say. */
  readonly total: number | undefined;
}

export interface DownloadOptions extends CallOptions {
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** A route with a file. */
export interface FileRoute {
  /** With a slash before it. */
  readonly path: string;
  /** The job or batch that it is of. */
  readonly jobId: string;
}

/**
 * Downloads files. A connection that breaks off is resumed where it broke, as long as the service can do that and has the
 * very same bytes still; a file at a path is begun anew otherwise, three times at most.
 */
export class Downloads {
  readonly #stream: Stream;
  readonly #retry: RetryOptions;
  readonly #connection: Connection;

  /**
   * @param stream sends a request once; reading the response's body fails when it falls silent.
   * @param retry the pauses between two tries, and how long after the last byte that came no further one begins.
   */
  constructor(stream: Stream, retry: RetryOptions, connection: Connection) {
    this.#stream = stream;
    this.#retry = retry;
    this.#connection = connection;
  }

  /**
   * @returns the size in bytes.
   * @throws PlatenApiError when the service refuses; PlatenConnectionError; whatever the target fails with. Nothing is left
   * at the path then, and a stream is aborted.
   */
  async save(route: FileRoute, target: DownloadTarget, options: DownloadOptions): Promise<number> {
    return await this.#transfer(route, await sinkOf(target), options);
  }

  /**
   * The bytes as they come. A connection that breaks off is resumed without the reader's notice.
   *
   * @returns once the first response has begun, so that a refusal is an error of this call and not of the stream.
   * @throws as `save`.
   */
  open(
    route: FileRoute,
    { signal, ...options }: DownloadOptions,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>();
    const writer = writable.getWriter();
    // A reader that wants no more ends the connection at once, whether or not anything comes over it.
    const connection = new AbortController();
    const onAbort = () => connection.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    writer.closed.catch((reason: unknown) => connection.abort(reason));
    const sink: Sink = {
      write: (bytes) => writer.write(bytes),
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason).catch(() => undefined),
    };
    return new Promise((resolve, reject) => {
      const onBegin = () => resolve(readable);
      this.#transfer(route, sink, { ...options, signal: connection.signal }, onBegin)
        .catch(reject)
        .finally(() => signal?.removeEventListener('abort', onAbort));
    });
  }

  async #transfer(
    { path, jobId }: FileRoute,
    sink: Sink,
    options: DownloadOptions,
    onBegin?: () => void,
  ): Promise<number> {
    const [stream, retry, connection] = [this.#stream, this.#retry, this.#connection];
    try {
      return await within(
        options,
        async ({ signal }) => {
          const source = { path, stream, retry, connection, onProgress: options.onProgress, onBegin, signal };
          const size = await new Transfer(sink, source).run();
          await sink.close();
          return size;
        },
        jobId,
      );
    } catch (error) {
      await sink.abort(error);
      throw error;
    }
  }
}

const MOST_RESTARTS = 3;

interface Source extends DownloadOptions {
  readonly path: string;
  readonly stream: Stream;
  readonly retry: RetryOptions;
  readonly connection: Connection;
  /** Called when the first response has begun. */
  readonly onBegin: (() => void) | undefined;
}

/** A download that may take several connections. */
class Transfer {
  readonly #target: Sink;
  readonly #source: Source;
  #received = 0;
  #total: number | undefined;
  #etag: string | undefined;
  /** When the last byte came, in epoch milliseconds. */
  #heardAt = Date.now();
  #triesSince = 0;
  #restarts = 0;

  constructor(target: Sink, source: Source) {
    this.#target = target;
    this.#source = source;
  }

  async run(): Promise<number> {
    const { retry, connection, signal } = this.#source;
    for (;;) {
      this.#triesSince += 1;
      const outcome = await this.#connect();
      if (outcome === 'whole') return this.#received;
      const wait = pauseMs(retry, this.#triesSince, outcome.askedMs);
      const { failure, isFinal } = outcome;
      const elapsedMs = Date.now() + wait - this.#heardAt;
      if (isFinal || !connection.mayRetry(failure, elapsedMs, retry.giveUpAfterMs)) {
        throw failure instanceof PlatenApiError
          ? failure
          : new PlatenConnectionError(connection.baseUrl, this.#triesSince, failure);
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
      this.#source.onBegin?.();
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
  const failure = apiError(response, await response.json().catch(() => undefined));
  const isFinal = response.status !== 429 && response.status < 500;
  return { failure, isFinal, askedMs: retryAfterMs(response) };
}
