import type { Readable } from 'node:stream';
import { type MaskedHeaders, maskedHeaders } from '../../tenants/usage/abridged.ts';

/** What is kept of a receiver's response, for its account to see. */
export interface KeptResponse {
  readonly headers: MaskedHeaders;
  /** The beginning of the body; null when that is no text in UTF-8. */
  readonly body: string | null;
  /** Whether the body is longer than what is kept of it. */
  readonly bodyIsCut: boolean;
}

/** Of the body, in bytes. */
export const KEPT_BODY_BYTES = 2048;
/** This much is read, so that the connection can be used again. Bytes. */
const MOST_READ_BYTES = 16 * 1024;

/** Keeps the beginning of a response, with the secrets in its headers masked. Never fails: what has come is kept. */
export async function keepResponse(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Readable,
): Promise<KeptResponse> {
  const kept: Buffer[] = [];
  let read = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (read < KEPT_BODY_BYTES) kept.push(chunk.subarray(0, KEPT_BODY_BYTES - read));
      read += chunk.length;
      if (read > MOST_READ_BYTES) break;
    }
  } catch {
    // The status is enough, whatever comes after it.
  }
  const bodyIsCut = read > KEPT_BODY_BYTES;
  return { headers: maskedHeaders(headers), body: textOf(Buffer.concat(kept), bodyIsCut), bodyIsCut };
}

/** @param isCut leaves out a character of which the end was cut. */
function textOf(bytes: Buffer, isCut: boolean): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
