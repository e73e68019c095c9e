import type { Dispatcher } from 'undici';
import { request } from 'undici';
import { pause, type Timers } from '../../async/timers.ts';
import { KubernetesError } from '../kubernetes-error.ts';
import type { Credentials } from './cluster-credentials.ts';
import { errorOfConnection, errorOfResponse } from './server-error.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object | undefined;
  readonly contentType?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs: number;
}

/** Passed to `onCall` for every response, for metrics: a call that is repeated after a 429 has several. */
export interface CallResult {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  /** 0 without a response. */
  readonly status: number;
  readonly seconds: number;
}

interface TransportOptions {
  /** `https://host:port`, perhaps with a path. */
  readonly server: string;
  readonly credentials: Credentials;
  readonly timers: Timers;
  readonly userAgent: string;
  readonly onCall: (result: CallResult) => void;
}

/** In bytes. A response is read into memory: one page of a list has a few megabytes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** The pause for a 429 that names no time, in milliseconds. */
const DEFAULT_RETRY_AFTER_MS = 1000;

/** Makes single HTTP calls: signed, within their deadlines, with errors as `KubernetesError`. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #closing = new AbortController();

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /**
   * The JSON of the response. A deferred call (429) was not carried out, so it is repeated as long as the deadline
   * allows.
   *
   * @throws KubernetesError, or the reason of the call's own signal.
   */
  async json(call: Call): Promise<unknown> {
    const deadline = new Deadline(this.#options.timers, call, this.#closing.signal);
    try {
      for (;;) {
        const response = await this.#send(call, deadline.signal);
        const text = await readText(response.body);
        if (response.statusCode < 300) return JSON.parse(text);
        const error = errorOfResponse(nameOf(call), response.statusCode, retryAfterOf(response), text);
        if (error.status !== 429) throw error;
        const waitMs = error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS;
        if (waitMs >= deadline.leftMs) throw error;
        await pause(this.#options.timers, waitMs, deadline.signal);
      }
    } catch (error) {
      throw deadline.report(error);
    } finally {
      deadline.end();
    }
  }

  /** As it arrives; the deadline is for its beginning. @throws KubernetesError, or the reason of the call's signal. */
  async stream(call: Call): Promise<AsyncIterable<Buffer>> {
    const deadline = new Deadline(this.#options.timers, call, this.#closing.signal);
    try {
      const response = await this.#send(call, deadline.signal);
      if (response.statusCode >= 300) {
        const text = await readText(response.body);
        throw errorOfResponse(nameOf(call), response.statusCode, retryAfterOf(response), text);
      }
      deadline.stop();
      return chunks(
        response.body,
        (error) => deadline.report(error),
        () => deadline.end(),
      );
    } catch (error) {
      deadline.end();
      throw deadline.report(error);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new KubernetesError('the client is closed', { status: 0, reason: 'Closed' }));
    await this.#options.credentials.close();
  }

  async #send(call: Call, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { server, credentials, timers, userAgent, onCall } = this.#options;
    const beganMs = timers.nowMs();
    const reported = (status: number) =>
      onCall({
        method: call.method,
        path: call.path.split('?')[0]!,
        status,
        seconds: (timers.nowMs() - beganMs) / 1000,
      });
    const { headers, dispatcher } = await credentials.current();
    try {
      const response = await request(server + call.path, {
        method: call.method,
        dispatcher,
        signal,
        headers: {
          ...headers,
          accept: 'application/json',
          'user-agent': userAgent,
          ...(call.body && { 'content-type': call.contentType ?? 'application/json' }),
        },
        body: call.body === undefined ? null : JSON.stringify(call.body),
      });
      reported(response.statusCode);
      if (response.statusCode === 401) credentials.renew();
      return response;
    } catch (error) {
      reported(0);
      throw error;
    }
  }
}

/** The one signal of a call, of its deadline, its caller and the end of the client; knows which one aborted. */
class Deadline {
  readonly #call: Call;
  readonly #own = new AbortController();
  readonly #cancelTimer: () => void;
  readonly #untilMs: number;
  readonly #timers: Timers;
  readonly #closing: AbortSignal;
  readonly #onAbort: () => void;

  constructor(timers: Timers, call: Call, closing: AbortSignal) {
    this.#call = call;
    this.#timers = timers;
    this.#closing = closing;
    this.#untilMs = timers.nowMs() + call.deadlineMs;
    this.#cancelTimer = timers.after(call.deadlineMs, () => {
      const message = `${nameOf(call)}: no response within ${call.deadlineMs} ms`;
      this.#own.abort(new KubernetesError(message, { status: 0, reason: 'DeadlineExceeded' }));
    });
    this.#onAbort = () => this.#own.abort(call.signal?.aborted ? call.signal.reason : closing.reason);
    for (const signal of [call.signal, closing]) {
      if (signal?.aborted) this.#onAbort();
      else signal?.addEventListener('abort', this.#onAbort);
    }
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  get leftMs(): number {
    return this.#untilMs - this.#timers.nowMs();
  }

  /** Ends the deadline; the signals stay in effect. */
  stop(): void {
    this.#cancelTimer();
  }

  end(): void {
    this.#cancelTimer();
    this.#call.signal?.removeEventListener('abort', this.#onAbort);
    this.#closing.removeEventListener('abort', this.#onAbort);
  }

  /** The error of a failed call, as its caller is to see it. */
  report(error: unknown): unknown {
    if (this.#own.signal.aborted) return this.#own.signal.reason;
    return error instanceof KubernetesError ? error : errorOfConnection(nameOf(this.#call), error);
  }
}

async function* chunks(
  body: AsyncIterable<Buffer>,
  report: (error: unknown) => unknown,
  onEnd: () => void,
): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw report(error);
  } finally {
    onEnd();
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`the response has more than ${MAX_BODY_BYTES} bytes`);
    read.push(chunk);
  }
  return Buffer.concat(read).toString('utf8');
}

function retryAfterOf(response: Dispatcher.ResponseData): string | undefined {
  const header = response.headers['retry-after'];
  return Array.isArray(header) ? header[0] : header;
}

function nameOf({ method, path }: Call): string {
  return `${method} ${path.split('?')[0]}`;
}
