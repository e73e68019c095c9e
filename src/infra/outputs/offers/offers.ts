import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import type { OutputOffer } from '../../bus/bus.ts';

/** Larger PDFs are not offered: each is in the memory of a worker and of an API at the same time. 1 MiB. */
export const MOST_OFFERED_BYTES = 1024 * 1024;

const PATH = '/offered/';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const ID_BYTES = 16;

interface Offered {
  readonly bytes: Uint8Array;
  readonly key: Buffer;
}

/**
 * PDFs that a worker has rendered and is storing, for the API process whose caller waits: it takes them meanwhile, and
 * need not read them from the store. Each is sent once, to whoever knows its id, and encrypted: its key travels over the
 * bus alone, which may have TLS where this connection has none.
 */
export class Offers {
  readonly #offered = new Map<string, Offered>();
  #address: string | undefined;

  /** Offers are made once it is known where they are sent. @param host the address that the process listens at. */
  listening(port: number, host: string | undefined): void {
    this.#address = `${bracketed(reachable(host))}:${port}`;
  }

  /** @returns undefined for PDFs that are not offered. `withdraw` has to be called when the PDF is stored. */
  make(bytes: Uint8Array): { readonly offer: OutputOffer; withdraw(): void } | undefined {
    if (this.#address === undefined || bytes.byteLength > MOST_OFFERED_BYTES) return undefined;
    const id = randomBytes(ID_BYTES).toString('base64url');
    const key = randomBytes(KEY_BYTES);
    this.#offered.set(id, { bytes, key });
    return {
      offer: { url: `http://${this.#address}${PATH}${id}`, key: key.toString('base64url') },
      withdraw: () => void this.#offered.delete(id),
    };
  }

  /** Answers requests for offers, and leaves all others to `next`. */
  readonly handle = (
    { method, url = '' }: IncomingMessage,
    response: ServerResponse,
    next: () => void,
  ): void => {
    const id = method === 'GET' && url.startsWith(PATH) ? url.slice(PATH.length) : '';
    const found = this.#offered.get(id);
    if (found === undefined) {
      next();
      return;
    }
    this.#offered.delete(id);
    const sealed = sealedBy(found);
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': sealed.byteLength,
      'Cache-Control': 'no-store',
    });
    response.end(sealed);
  };
}

/** What a worker has sent. @throws when it was not encrypted with this key. */
export function opened(sealed: Buffer, key: string): Buffer {
  const end = sealed.byteLength - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, Buffer.from(key, 'base64url'), sealed.subarray(0, IV_BYTES));
  decipher.setAuthTag(sealed.subarray(end));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, end)), decipher.final()]);
}

/** What encryption adds to a PDF, in bytes. */
export const SEAL_BYTES = IV_BYTES + TAG_BYTES;

function sealedBy({ bytes, key }: Offered): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** The address at which others reach this process: of a pod, its own. */
function reachable(host: string | undefined): string {
  if (host !== undefined && host !== '::' && host !== '0.0.0.0') return host;
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return outer?.address ?? '127.0.0.1';
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
