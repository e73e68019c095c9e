import { randomBytes } from 'node:crypto';
import { PlatenError } from '../../infra/errors/registry.ts';
import { type Exchange, ExchangeFault, type ExchangeRequest } from './exchange.ts';

type Asked = Pick<ExchangeRequest, 'url' | 'deadline' | 'signal'> & {
  /** SHA-256 of what is stamped. */
  readonly hash: Uint8Array;
};

/** What an authority has sent: anything. */
export interface TimestampResponse {
  readonly response: Buffer;
  /** Of the request. */
  readonly nonce: Uint8Array;
}

const NONCE_BYTES = 8;
/** Around the hash and the nonce (RFC 3161, 2.4.1): version 1, SHA-256; after them: with the authority's certificate. */
const BEFORE_HASH = Buffer.from('30430201013031300d060960864801650304020105000420', 'hex');
const BEFORE_NONCE = Buffer.from([0x02, NONCE_BYTES]);
const AFTER_NONCE = Buffer.from('0101ff', 'hex');

/** Asks a time-stamp authority (RFC 3161). @throws PlatenError TIMESTAMP_FAILED; the signal's reason. */
export async function askTimestampAuthority(
  exchange: Exchange,
  { hash, ...where }: Asked,
): Promise<TimestampResponse> {
  const nonce = randomBytes(NONCE_BYTES);
  // A positive number of exactly so many bytes.
  nonce[0] = (nonce[0]! & 0x3f) | 0x40;
  const body = Buffer.concat([BEFORE_HASH, hash, BEFORE_NONCE, nonce, AFTER_NONCE]);
  const headers = {
    'content-type': 'application/timestamp-query',
    accept: 'application/timestamp-reply',
    'user-agent': 'Platen-Seals/1',
  };
  try {
    return { response: await exchange({ ...where, headers, body }), nonce };
  } catch (error) {
    if (!(error instanceof ExchangeFault)) throw error;
    const message = `The time-stamp authority of timestampUrl failed: ${error.message}`;
    throw new PlatenError('TIMESTAMP_FAILED', message, { permanent: error.permanent });
  }
}
