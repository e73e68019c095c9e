import { promisify } from 'node:util';
import { brotliDecompress, gunzip, type InputType, inflate } from 'node:zlib';
import { ProxyAgent, request } from 'undici';

/** Responses that redirect, one after another. */
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

type Decode = (bytes: InputType, options: { maxOutputLength: number }) => Promise<Buffer>;
const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', promisify<InputType, { maxOutputLength: number }, Buffer>(gunzip)],
  ['deflate', promisify<InputType, { maxOutputLength: number }, Buffer>(inflate)],
  ['br', promisify<InputType, { maxOutputLength: number }, Buffer>(brotliDecompress)],
]);

export interface AssetResponse {
  readonly status: number;
  readonly mediaType: string;
  /** Empty for an error status. */
  readonly bytes: Buffer;
  /** The address that responded, after redirects. */
  readonly url: URL;
}

export interface AssetRequest {
  /** The header fields for an address; called again for the target of each redirect. @param first the first address. */
  readonly headersFor: (url: URL, first: URL) => Readonly<Record<string, string>>;
  /** Bytes of the decoded body. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** A response that is of no use. Its message may be shown to the caller. */
export class AssetError extends Error {}

/** Fetches single files by way of the egress proxy, whose rules for addresses apply to each redirect as well. */
export class AssetClient {
  readonly #agent: ProxyAgent;

  /** @param proxyUrl of the egress proxy. */
  constructor(proxyUrl: string) {
    this.#agent = new ProxyAgent({ uri: proxyUrl, proxyTunnel: true });
  }

  /** @throws AssetError for a response that is of no use; any other error when there is no complete one. */
  async get(first: URL, { headersFor, maxBytes, signal }: AssetRequest): Promise<AssetResponse> {
    let url = first;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: this.#agent,
        headers: { 'accept-encoding': 'identity', ...headersFor(url, first) },
        signal,
      });
      const location = REDIRECTS.has(statusCode) ? URL.parse(String(headers.location), url.href) : null;
      if (location !== null || statusCode >= 400) {
        body.on('error', () => undefined).destroy();
        if (location === null) return { status: statusCode, mediaType: '', bytes: Buffer.alloc(0), url };
        if (!isFetchable(location)) throw new AssetError('redirected to an address that is not fetched');
        url = location;
        continue;
      }
      const bytes = await readAll(body, maxBytes);
      const decoded = await decode(bytes, String(headers['content-encoding'] ?? ''), maxBytes);
      return { status: statusCode, mediaType: mediaTypeOf(headers['content-type']), bytes: decoded, url };
    }
    throw new AssetError('too many redirects');
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** Whether an address is of http or https, without a user name and password. */
export function isFetchable({ protocol, username, password }: URL): boolean {
  return (protocol === 'http:' || protocol === 'https:') && username + password === '';
}

async function readAll(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop early ends the connection.
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** Some servers compress whatever they are asked for. */
async function decode(bytes: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  if (encoding === '' || encoding === 'identity') return bytes;
  const decoder = DECODERS.get(encoding.toLowerCase());
  if (decoder === undefined) throw new AssetError('encoded in an unknown way');
  return await decoder(bytes, { maxOutputLength: maxBytes }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge(maxBytes)
      : new AssetError('not encoded as it says');
  });
}

function tooLarge(maxBytes: number): AssetError {
  return new AssetError(`larger than ${maxBytes} bytes`);
}

function mediaTypeOf(field: string | string[] | undefined): string {
  return /^[\w.+-]+\/[\w.+-]+/.exec(String(field ?? ''))?.[0].toLowerCase() ?? 'application/octet-stream';
}
