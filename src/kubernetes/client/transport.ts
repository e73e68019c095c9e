import type { Dispatcher } from 'undici';
import { request } from 'undici';
import { pause, type Timers } from '../../async/timers.ts';
import type { Credentials } from './credentials.ts';
import { KubernetesError } from './kubernetes-error.ts';
import { errorOfAnswer, errorOfConnection } from './server-error.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: object | undefined;
  readonly contentType?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs: number;
}

/** Told of every answer, for metrics: a call that is repeated after a 429 has more than one. */
export interface CallResult {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  /** 0 without an answer. */
  readonly status: number;
  readonly seconds: number;
}

export interface TransportOptions {
  /** `https://host:port`, perhaps with a path. */
  readonly server: string;
  readonly credentials: Credentials;
  readonly timers: Timers;
  readonly userAgent: string;
  readonly onCall: (result: CallResult) => void;
}

/** An answer is read into memory: one page of a list is a few megabytes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** A server that asks for patience without saying for how long. */
const DEFAULT_RETRY_AFTER_MS = 1000;

/** One HTTP call at a time: signed, within its deadline, its errors told as `KubernetesError`. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #closing = new AbortController();

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /**
   * The JSON that is answered. A call that is put off (429) was not carried out, so it is repeated, for as long as the
   * deadline allows.
   *
   * @throws KubernetesError, or the reason of the call's own signal.
   */
  async json(call: Call): Promise<unknown> {
    const deadline = new Deadline(this.#options.timers, call, this.#closing.signal);
    try {
      for (;;) {
        const answer = await this.#send(call, deadline.signal);
        const text = await readText(answer.body);
        if (answer.statusCode < 300) return JSON.parse(text);
        const error = errorOfAnswer(nameOf(call), answer.statusCode, retryAfterOf(answer), text);
        if (error.status !== 429) throw error;
        const waitMs = error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS;
        if (waitMs >= deadline.leftMs) throw error;
        await pause(this.#options.timers, waitMs, deadline.signal);
      }
    } catch (error) {
      throw deadline.tell(error);
    } finally {
      deadline.end();
    }
  }

  /**
   * The answer's body as it arrives. The deadline is for its beginning only; it ends with the signal.
   *
   * @throws KubernetesError, or the reason of the call's own signal.
   */
  async stream(call: Call): Promise<AsyncIterable<Buffer>> {
    const deadline = new Deadline(this.#options.timers, call, this.#closing.signal);
    try {
      const answer = await this.#send(call, deadline.signal);
      if (answer.statusCode >= 300) {
        const text = await readText(answer.body);
        throw errorOfAnswer(nameOf(call), answer.statusCode, retryAfterOf(answer), text);
      }
      deadline.stop();
      return chunks(
        answer.body,
        (error) => deadline.tell(error),
        () => deadline.end(),
      );
    } catch (error) {
      deadline.end();
      throw deadline.tell(error);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new KubernetesError('the client is closed', { status: 0, reason: 'Closed' }));
    await this.#options.credentials.close();
  }

  async #send(call: Call, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { server, credentials, timers, userAgent, onCall } = this.#options;
    const beganMs = timers.nowMs();
    const told = (status: number) =>
      onCall({
        method: call.method,
        path: call.path.split('?')[0]!,
        status,
        seconds: (timers.nowMs() - beganMs) / 1000,
      });
    const { headers, dispatcher } = await credentials.current();
    try {
      const answer = await request(server + call.path, {
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
      told(answer.statusCode);
      if (answer.statusCode === 401) credentials.renew();
      return answer;
    } catch (error) {
      told(0);
      throw error;
    }
  }
}

/** The one signal of a call: its deadline, its caller's signal and the end of the client; and which of them it was. */
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
      const message = `${nameOf(call)}: no answer within ${call.deadlineMs} ms`;
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

  /** Time matters no more; the signals still do. */
  stop(): void {
    this.#cancelTimer();
  }

  end(): void {
    this.#cancelTimer();
    this.#call.signal?.removeEventListener('abort', this.#onAbort);
    this.#closing.removeEventListener('abort', this.#onAbort);
  }

  /** What a call failed with, as its caller is to see it. */
  tell(error: unknown): unknown {
    if (this.#own.signal.aborted) return this.#own.signal.reason;
    return error instanceof KubernetesError ? error : errorOfConnection(nameOf(this.#call), error);
  }
}

async function* chunks(
  body: AsyncIterable<Buffer>,
  tell: (error: unknown) => unknown,
  onEnd: () => void,
): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw tell(error);
  } finally {
    onEnd();
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`the answer has more than ${MAX_BODY_BYTES} bytes`);
    read.push(chunk);
  }
  return Buffer.concat(read).toString('utf8');
}

function retryAfterOf(answer: Dispatcher.ResponseData): string | undefined {
  const header = answer.headers['retry-after'];
  return Array.isArray(header) ? header[0] : header;
}

function nameOf({ method, path }: Call): string {
  return `${method} ${path.split('?')[0]}`;
}
