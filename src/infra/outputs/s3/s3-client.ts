import { createHash } from 'node:crypto';
import { Agent, type Dispatcher } from 'undici';
import type { BucketAddress } from './bucket-address.ts';
import { S3Error } from './s3-error.ts';
import type { Signer, Unsigned } from './signer.ts';
import { textOf } from './xml.ts';

/** A request to the bucket. */
interface S3Call extends Omit<Unsigned, 'address' | 'key'> {
  readonly key?: string | undefined;
  readonly body?: Uint8Array | undefined;
  /** Of the body, in hexadecimal, when it is known. */
  readonly sha256?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** In milliseconds, for a request until the response begins. A PDF of 32 MiB at half a MiB a second takes that long. */
const DEADLINE_MS = 60_000;
/** In milliseconds, for a connection. */
const CONNECT_MS = 5000;
/** In milliseconds, between two pieces of a response that is being read. */
const STALL_MS = 30_000;
/** Longest text of a response that is kept in memory, in bytes: a list of 1,000 keys has a third of a megabyte. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** Makes single requests to a bucket. */
export class S3Client {
  readonly #agent = new Agent({ connect: { timeout: CONNECT_MS }, bodyTimeout: STALL_MS, headersTimeout: 0 });
  readonly #address: BucketAddress;
  readonly #signer: Signer;

  constructor(address: BucketAddress, signer: Signer) {
    this.#address = address;
    this.#signer = signer;
  }

  /**
   * The response, whose body has to be read.
   *
   * @throws S3Error; the signal's reason when it aborts.
   */
  async send(call: S3Call): Promise<Dispatcher.ResponseData> {
    const { method, key = '', body, sha256 = digest(body), signal } = call;
    const { origin } = this.#address;
    const what = `${method} ${key === '' ? 'the bucket' : key}`;
    signal?.throwIfAborted();
    const { path, headers } = await this.#signer.sign({ ...call, address: this.#address, key }, sha256);
    const deadline = new Deadline(what, signal);
    try {
      const response = await this.#agent.request({
        ...{ origin, path, method, headers, signal: deadline.signal },
        body: body ?? null,
      });
      const { statusCode: status } = response;
      if (status < 300) return response;
      throw refusal(what, status, await readText(response.body));
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof S3Error
        ? error
        : lost(what, deadline.signal.aborted ? deadline.signal.reason : error);
    } finally {
      deadline.end();
    }
  }

  /** The text of the response. @throws as `send`. */
  async text(call: S3Call): Promise<string> {
    const { body } = await this.send(call);
    const what = `${call.method} ${call.key ?? 'the bucket'}`;
    const text = await readText(body).catch((error: unknown) => {
      throw lost(what, error);
    });
    // A long operation answers 200 before it knows how it ends.
    if (/^\s*(<\?xml[^>]*>)?\s*<Error>/.test(text)) throw refusal(what, 500, text);
    return text;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** Ends a request that takes too long, or whose caller gives up. */
class Deadline {
  readonly #own = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  constructor(what: string, signal: AbortSignal | undefined) {
    this.#timer = setTimeout(() => {
      const message = `no response within ${DEADLINE_MS / 1000} s`;
      this.#own.abort(new S3Error(what, { status: 0, code: 'Timeout', message }));
    }, DEADLINE_MS);
    this.signal = signal === undefined ? this.#own.signal : AbortSignal.any([signal, this.#own.signal]);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function digest(body: Uint8Array | undefined): string {
  return createHash('sha256')
    .update(body ?? '')
    .digest('hex');
}

function refusal(what: string, status: number, text: string): S3Error {
  const code = textOf(text, 'Code') ?? `HTTP ${status}`;
  const message = textOf(text, 'Message') ?? `the store answered ${status}`;
  return new S3Error(what, { status, code, message, region: textOf(text, 'Region') });
}

function lost(what: string, error: unknown): Error {
  if (error instanceof S3Error) return error;
  const { code = 'Connection', message } = error as NodeJS.ErrnoException;
  return new S3Error(what, { status: 0, code, message, cause: error });
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES) throw new Error(`the response has more than ${MAX_TEXT_BYTES} bytes`);
    read.push(chunk);
  }
  return Buffer.concat(read).toString('utf8');
}
