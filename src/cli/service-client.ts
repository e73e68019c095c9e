import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { doublingMs, spreadMs } from '../async/backoff.ts';
import { CommandError } from './command-error.ts';

export interface Order {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  /** Names an order, so that it can be repeated and is still one. */
  readonly idempotencyKey?: string;
}

interface ErrorBody {
  readonly code?: string;
  readonly message?: string | readonly string[];
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** No further try begins this long after the first. */
const GIVE_UP_AFTER_MS = 120_000;
/** Of a connection that is made. */
const CONNECT_MS = 10_000;
/** An upload may be as slow as that, and take a minute: the service takes no slower one. */
const LEAST_BYTES_PER_MS = 8.192;
const LONGEST_UPLOAD_MS = 60_000;
/** Tries of a download that breaks off. */
const DOWNLOADS = 5;
/** The first request of the same name is still being answered. */
const IN_PROGRESS = 'IDEMPOTENCY_IN_PROGRESS';

/** How long one try may be without a sign of life, in milliseconds: until an answer begins, and within it. */
export interface TryBounds {
  readonly answerMs: number;
  readonly silenceMs: number;
}

/** Nothing that is asked for here waits for a render. */
const BOUNDS: TryBounds = { answerMs: 30_000, silenceMs: 30_000 };

/** A service as its callers see it: at an address, with an API key. */
export class ServiceClient {
  readonly #url: URL;
  readonly #key: string;
  readonly #bounds: TryBounds;
  #connections = newConnections();

  /** @throws CommandError when the environment does not name the service and a key: PLATEN_URL, PLATEN_API_KEY. */
  constructor(environment: NodeJS.ProcessEnv, bounds = BOUNDS) {
    this.#bounds = bounds;
    const { PLATEN_URL: address = '', PLATEN_API_KEY: key = '' } = environment;
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
      throw new CommandError('PLATEN_URL must be the address of the service: http://localhost:8080');
    }
    if (key === '') throw new CommandError('PLATEN_API_KEY must be an API key.');
    this.#url = new URL(address.endsWith('/') ? address : `${address}/`);
    this.#key = key;
  }

  /** The body of a JSON answer. @throws as `ask` does. */
  async json<T>(path: string, order?: Order): Promise<T> {
    return (await (await this.ask(path, order)).body.json()) as T;
  }

  /**
   * An answer that is no error, after as many tries as that takes within two minutes.
   *
   * @param path without a slash before it.
   * @throws RefusedError for what stays as it is; CommandError when nobody answers.
   */
  async ask(path: string, order: Order = {}): Promise<Dispatcher.ResponseData> {
    const lastStart = Date.now() + GIVE_UP_AFTER_MS;
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#try(path, order);
      if ('answer' in outcome) return outcome.answer;
      const { failure } = outcome;
      const pause = failure.pauseMs ?? doublingMs(tries, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
      if (!failure.mayPass || Date.now() + pause > lastStart) throw failure.error;
      await sleep(spreadMs(pause, Math.random));
    }
  }

  /**
   * Saves what a path leads to in a file, which is there once it is whole. A download that breaks off is begun anew.
   *
   * @throws as `ask` does; CommandError when it breaks off again and again, or the file cannot be written.
   */
  async save(path: string, file: string): Promise<void> {
    const draft = `${file}.part`;
    for (let tries = 1; ; tries += 1) {
      const answer = await this.ask(path);
      try {
        await pipeline(answer.body, createWriteStream(draft));
        return await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        const isOfTheDisk = (error as NodeJS.ErrnoException).syscall !== undefined;
        if (!isOfTheDisk && tries < DOWNLOADS) continue;
        throw new CommandError(`${file} could not be written: ${(error as Error).message}`);
      }
    }
  }

  async #try(path: string, { method = 'GET', body, idempotencyKey }: Order): Promise<Outcome> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const uploadMs = Math.min(LONGEST_UPLOAD_MS, Buffer.byteLength(text ?? '') / LEAST_BYTES_PER_MS);
    const connections = this.#connections;
    let answer: Dispatcher.ResponseData;
    try {
      answer = await request(new URL(path, this.#url), {
        method,
        headers: {
          'X-API-Key': this.#key,
          ...(text !== undefined && { 'Content-Type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        },
        body: text ?? null,
        dispatcher: connections,
        headersTimeout: this.#bounds.answerMs + Math.ceil(uploadMs),
        bodyTimeout: this.#bounds.silenceMs,
      });
    } catch (error) {
      this.#leave(connections);
      const why = (error as Error).cause ?? error;
      const told = new CommandError(`${this.#url} does not answer: ${String(why)}`);
      return { failure: { mayPass: true, error: told } };
    }
    const { statusCode: status } = answer;
    if (status < 300) return { answer };
    const told = (await answer.body.json().catch(() => ({}))) as ErrorBody & { jobId?: string };
    const seconds = Number(answer.headers['retry-after'] ?? Number.NaN);
    return {
      failure: {
        // A job that has failed has had all of its attempts.
        mayPass: status === 429 || (status >= 500 && told.jobId === undefined) || told.code === IN_PROGRESS,
        ...(seconds >= 0 && { pauseMs: seconds * 1000 }),
        error: new RefusedError(status, told),
      },
    };
  }

  /** What was kept may all lead to a server that is no more: the next try begins with connections of its own. */
  #leave(connections: Agent): void {
    if (connections !== this.#connections) return;
    this.#connections = newConnections();
    void connections.close();
  }
}

function newConnections(): Agent {
  return new Agent({ connect: { timeout: CONNECT_MS } });
}

type Outcome = { readonly answer: Dispatcher.ResponseData } | { readonly failure: Failure };

interface Failure {
  readonly error: Error;
  readonly mayPass: boolean;
  /** What the service asks for. */
  readonly pauseMs?: number;
}

/** The service has answered with an error. */
export class RefusedError extends CommandError {
  readonly status: number;
  readonly code: string | undefined;
  /** Every fault of the request. */
  readonly messages: readonly string[];

  constructor(status: number, { code, message = `status ${status}` }: ErrorBody) {
    const messages = [message].flat();
    super(`The service refuses: ${code === undefined ? '' : `${code}: `}${messages.join('\n  ')}`);
    this.name = 'RefusedError';
    this.status = status;
    this.code = code;
    this.messages = messages;
  }
}
