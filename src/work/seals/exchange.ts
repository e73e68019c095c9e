import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import { backoffMs } from '../../infra/async/backoff.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { wordsForFailure } from '../callbacks/post.ts';

/** A request to a server that somebody has named. */
export interface ExchangeRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Which is posted; without one something is fetched. */
  readonly body?: string | Uint8Array;
  /** Epoch milliseconds by which there has to be a response. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** Of the response. Default 64 KiB. */
  readonly maxBytes?: number;
}

/** Sends it, again if it may help, and has the body of the response. @throws ExchangeFault; the signal's reason. */
export type Exchange = (sent: ExchangeRequest) => Promise<Buffer>;

/** Why there is no response; for the account, without the addresses of the system's errors. */
export class ExchangeFault extends Error {
  /** Whether the same request would meet the same. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.permanent = permanent;
  }
}

interface ExchangeOptions {
  /** Milliseconds for one request, from the lookup to the last byte of the response. */
  readonly timeoutMs: number;
  /** A number in [0, 1). */
  readonly random: () => number;
}

const TRIES = 3;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 2000;
/** A signature or a time stamp with the certificates of its authorities, in base64. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Statuses that may pass. */
const PASSING = new Set([408, 425, 429]);

/** @param dispatcher decides what may be reached; redirects are not followed. */
export function createExchange(dispatcher: Dispatcher, { timeoutMs, random }: ExchangeOptions): Exchange {
  return async (sent) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await once(dispatcher, sent, timeoutMs);
      } catch (error) {
        sent.signal.throwIfAborted();
        const fault = error instanceof ExchangeFault ? error : faultOf(error, timeoutMs);
        const pauseMs = backoffMs(tries, FIRST_PAUSE_MS, MAX_PAUSE_MS, random);
        if (fault.permanent || tries === TRIES || Date.now() + pauseMs >= sent.deadline) throw fault;
        await sleep(pauseMs, undefined, { signal: sent.signal });
      }
    }
  };
}

async function once(
  dispatcher: Dispatcher,
  { url, headers, body: sent, deadline, signal, maxBytes = MAX_RESPONSE_BYTES }: ExchangeRequest,
  timeoutMs: number,
): Promise<Buffer> {
  const time = AbortSignal.timeout(Math.max(1, Math.min(timeoutMs, deadline - Date.now())));
  const end = AbortSignal.any([signal, time]);
  const { statusCode, body } = await request(url, {
    method: sent === undefined ? 'GET' : 'POST',
    headers: { ...headers, 'accept-encoding': 'identity' },
    body: sent ?? null,
    dispatcher,
    signal: end,
  });
  try {
    if (statusCode < 200 || statusCode > 299) throw faultOfStatus(statusCode);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.byteLength;
      if (length > maxBytes) throw new ExchangeFault(`Its response has more than ${maxBytes} bytes.`, true);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, length);
  } finally {
    body.on('error', () => undefined).destroy();
  }
}

function faultOfStatus(status: number): ExchangeFault {
  if (status >= 300 && status < 400)
    return new ExchangeFault(`Redirects are not followed (${status}).`, true);
  return new ExchangeFault(`It responded with status ${status}.`, status < 500 && !PASSING.has(status));
}

function faultOf(error: unknown, timeoutMs: number): ExchangeFault {
  const permanent = error instanceof PlatenError && (error.code === 'URL_BLOCKED' || error.permanent);
  return new ExchangeFault(wordsForFailure(error, timeoutMs), permanent);
}
