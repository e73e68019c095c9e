import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { SignatureV4 } from '@smithy/signature-v4';
import type { BucketAddress } from './bucket-address.ts';
import type { S3Config } from './s3-variables.ts';

/** A request before it is signed. */
export interface Unsigned {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly address: BucketAddress;
  /** Below the bucket, of characters that addresses hold as they are; empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A request with its signature. */
export interface Signed {
  readonly path: string;
  readonly headers: Record<string, string>;
}

/** Signs requests by version 4 of Amazon's signatures. */
export interface Signer {
  /** @param sha256 of the body, in hexadecimal. The store checks the body by it. */
  sign(request: Unsigned, sha256: string): Promise<Signed>;
  /**
   * An address that whoever holds it may fetch.
   *
   * @param seconds for which it is valid.
   * @returns undefined when the credentials end before.
   */
  presign(request: Unsigned, now: Date, seconds: number): Promise<string | undefined>;
}

/** With the credentials of the configuration, or those that Amazon's usual chain finds, which renews them. */
export function createSigner(config: S3Config): Signer {
  const credentials = credentialsOf(config);
  const signer = new SignatureV4({
    service: 's3',
    region: config.PLATEN_S3_REGION,
    credentials,
    sha256: Sha256,
    uriEscapePath: false,
  });

  return {
    async sign(request, sha256) {
      const { headers } = await signer.sign(
        unsigned(request, { ...request.headers, 'x-amz-content-sha256': sha256 }),
      );
      return { path: pathOf(request, request.query), headers };
    },
    async presign(request, now, seconds) {
      const { expiration } = await credentials();
      if (expiration !== undefined && expiration.getTime() < now.getTime() + seconds * 1000) return undefined;
      const headers = { ...request.headers, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' };
      const { query } = await signer.presign(unsigned(request, headers), {
        signingDate: now,
        expiresIn: seconds,
      });
      return request.address.origin + pathOf(request, query as Record<string, string>);
    },
  };
}

function credentialsOf(config: S3Config): ReturnType<typeof defaultProvider> {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, PLATEN_S3_REGION: region } = config;
  if (AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined)
    return defaultProvider({ clientConfig: { region } });
  // The secrets are not in the environment any more, where the chain would look for them.
  const given = {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
  };
  return async () => given;
}

/** In the form of the signer. */
function unsigned({ method, address, key, query }: Unsigned, headers: Record<string, string>) {
  const { protocol, hostname, port, host } = new URL(address.origin);
  return {
    method,
    protocol,
    hostname,
    ...(port !== '' && { port: Number(port) }),
    path: `${address.path}/${key}`,
    query: { ...query },
    headers: { host, ...headers },
  };
}

function pathOf({ address, key }: Unsigned, query: Readonly<Record<string, string>> = {}): string {
  const text = Object.entries(query)
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .join('&');
  return `${address.path}/${key}${text === '' ? '' : `?${text}`}`;
}

/** RFC 3986, as the signature counts it. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The hash that the signer is given. */
class Sha256 {
  #hash: Hash | Hmac;
  readonly #secret: string | Uint8Array | undefined;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret);
    this.#hash = this.#begun();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#begun();
  }

  #begun(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof data === 'string') return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
