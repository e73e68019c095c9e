import type { Fetch } from './bounded-fetch.ts';
import { reasonOf } from './errors.ts';

/** Until an address has led to a server for the first time, it is given up after so long, in milliseconds. */
const FIRST_CONTACT_MS = 5000;
/** No connection has come about, in the words of Node and of Bun. */
const NOT_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket)$/;
/** Certificates that are not trusted, and servers that do not speak TLS: asking again changes neither. */
const NO_TLS = /CERT|ERR_SSL_|ERR_TLS_|EPROTO/;
/** What fetch says of ports that it never connects to, such as 6000: it has no code for them. */
const BLOCKED_PORT = 'bad port';

/** Where the service is, and what is known of the way there. */
export interface Connection {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Sends a request once. */
  readonly fetchOnce: Fetch;
  /** Whether another try after this failure is of use, so long after the first one (or the last sign of life). */
  readonly mayRetry: (failure: unknown, elapsedMs: number, giveUpAfterMs: number) => boolean;
}

/**
 * @param baseUrl otherwise PLATEN_URL of the environment.
 * @throws TypeError without an address of HTTP.
 */
export function openConnection(
  baseUrl: string | URL | undefined,
  fetchOnce: Fetch = (request) => globalThis.fetch(request),
): Connection {
  let isReached = false;
  return {
    baseUrl: addressOf(baseUrl),
    async fetchOnce(request) {
      try {
        const response = await fetchOnce(request);
        isReached = true;
        return response;
      } catch (failure) {
        if (!request.signal.aborted && !codesOf(failure).some((code) => NOT_CONNECTED.test(code)))
          isReached = true;
        throw failure;
      }
    },
    mayRetry(failure, elapsedMs, giveUpAfterMs) {
      if (codesOf(failure).some((code) => NO_TLS.test(code)) || reasonOf(failure) === BLOCKED_PORT)
        return false;
      return elapsedMs <= (isReached ? giveUpAfterMs : Math.min(FIRST_CONTACT_MS, giveUpAfterMs));
    },
  };
}

/** A value of the environment, where there is one. */
export function environmentOf(name: string): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env[name];
}

function addressOf(given: string | URL | undefined): string {
  const address = String(given ?? environmentOf('PLATEN_URL') ?? '').trim();
  if (address === '') throw new TypeError('No address of the service: give baseUrl, or set PLATEN_URL.');
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw new TypeError(`baseUrl must begin with http:// or https:// and name a host: ${address}`);
  return address.replace(/\/+$/, '');
}

/** The codes of a failure and of what has caused it. */
function codesOf(failure: unknown): string[] {
  if (!(failure instanceof Error)) return [];
  const { code } = failure as NodeJS.ErrnoException;
  const causes = failure instanceof AggregateError ? (failure.errors as unknown[]) : [failure.cause];
  return [...(typeof code === 'string' ? [code] : []), ...causes.flatMap(codesOf)];
}
