import { type Dispatcher, request } from 'undici';
import { isFetchable } from '../../../infra/egress/asset-client.ts';
import { PlatenError } from '../../../infra/errors/registry.ts';
import { MAX_SOURCE_BYTES } from './source-files.ts';

/** Responses that redirect, one after another. */
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Milliseconds without a byte. */
const SILENCE_MS = 30_000;
/** Milliseconds for the whole file. */
const TOTAL_MS = 15 * 60_000;
/** Statuses after which another attempt may get the file. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A file that could not be fetched this time; another attempt may get it. */
export class FetchFailed extends Error {}

/**
 * The bytes at an address, as they arrive.
 *
 * @param agent decides what may be reached: each redirect is another connection, which it checks as well.
 * @throws PlatenError URL_BLOCKED, URL_UNREACHABLE, INVALID_URL or INPUT_TOO_LARGE for what stays so; FetchFailed for what
 * may pass.
 */
export async function* fetched(
  first: string,
  agent: Dispatcher,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_MS)]);
  try {
    yield* bodyOf(first, agent, deadline);
  } catch (error) {
    if (error instanceof FetchFailed) throw error;
    if (!(error instanceof PlatenError)) throw new FetchFailed(wordsFor(error), { cause: error });
    if (error.code === 'URL_UNREACHABLE' && !error.permanent)
      throw new FetchFailed(error.message, { cause: error });
    throw error;
  }
}

async function* bodyOf(first: string, agent: Dispatcher, signal: AbortSignal): AsyncGenerator<Buffer> {
  let url = new URL(first);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      headers: { 'accept-encoding': 'identity', 'user-agent': 'Platen-Sources/1' },
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
      signal,
    });
    if (statusCode === 200) {
      yield* wholeOf(body, headers);
      return;
    }
    body.on('error', () => undefined).destroy();
    const location = REDIRECTS.has(statusCode) ? URL.parse(String(headers.location), url.href) : null;
    if (location === null) throw refused(statusCode);
    if (!isFetchable(location))
      throw new PlatenError('INVALID_URL', 'The source redirects to what is no http or https address.');
    url = location;
  }
  throw new PlatenError('URL_UNREACHABLE', `The source redirects more than ${MAX_REDIRECTS} times.`, {
    permanent: true,
  });
}

async function* wholeOf(
  body: Dispatcher.ResponseData['body'],
  headers: Dispatcher.ResponseData['headers'],
): AsyncGenerator<Buffer> {
  // A stream that is not read to its end must not stay open; an error after that concerns nobody.
  body.on('error', () => undefined);
  try {
    const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
    if (encoding !== 'identity')
      throw new PlatenError('SOURCE_UNREADABLE', `The source is sent compressed (${encoding.slice(0, 20)}).`);
    if (Number(headers['content-length'] ?? 0) > MAX_SOURCE_BYTES)
      throw new PlatenError('INPUT_TOO_LARGE', `The file is larger than ${MAX_SOURCE_BYTES} bytes.`);
    for await (const chunk of body) yield chunk as Buffer;
  } finally {
    body.destroy();
  }
}

function refused(status: number): Error {
  const message = `The source responded with status ${status}.`;
  return PASSING.has(status)
    ? new FetchFailed(message)
    : new PlatenError('URL_UNREACHABLE', message, { permanent: true });
}

/** For the account: without the addresses in the system's errors. */
function wordsFor(error: unknown): string {
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return `The source was not sent within ${TOTAL_MS / 60_000} minutes.`;
  return `The connection to the source failed${code === undefined ? '' : ` (${code})`}.`;
}
