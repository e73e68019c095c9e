import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { namedUuid } from '../../infra/ids/named-uuid.ts';
import { DIGEST } from '../../render/seal/placeholder.ts';
import { signedHeaders } from '../callbacks/signature.ts';
import type { SigningKeys } from '../callbacks/signing-keys.ts';
import type { Job } from '../jobs/job.ts';
import { type Exchange, ExchangeFault, type ExchangeRequest } from './exchange.ts';

interface DigestServerDeps {
  readonly exchange: Exchange;
  readonly keys: Pick<SigningKeys, 'signing'>;
  /** The prefix of the service's own headers, such as `X-Service-`. */
  readonly headerPrefix: string;
  readonly clock: Clock;
}

type Asked = Pick<ExchangeRequest, 'url' | 'deadline' | 'signal'> & {
  readonly job: Pick<Job, '_id' | 'accountId' | 'ownerFence' | 'attempts'>;
  /** SHA-256. */
  readonly digest: Buffer;
};

/**
 * Asks a customer's own server to sign a digest. The request is signed as callbacks are, and its repetitions have the same
 * id, which is that of the job and the digest.
 *
 * @returns what the server has sent as a CMS: anything.
 * @throws PlatenError SEAL_FAILED; the signal's reason.
 */
export async function askDigestServer(
  { exchange, keys, headerPrefix, clock }: DigestServerDeps,
  { job, digest, ...where }: Asked,
): Promise<Buffer> {
  const signing = await keys.signing(job.accountId, job.ownerFence);
  if (signing.length === 0) throw failed('was not asked: the account has had another owner since.', true);
  const id = namedUuid(job._id, digest.toString('hex'));
  const body = JSON.stringify({
    event: 'seal.requested',
    id,
    jobId: job._id,
    attempt: job.attempts,
    algorithm: DIGEST,
    digest: digest.toString('base64'),
  });
  const timestamp = Math.floor(clock.now().getTime() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Platen-Seals/1',
    ...signedHeaders(signing, { deliveryId: id, timestamp, body }, headerPrefix),
  };
  try {
    return cmsOf(await exchange({ ...where, headers, body }));
  } catch (error) {
    if (error instanceof ExchangeFault) throw failed(`failed: ${error.message}`, error.permanent);
    throw error;
  }
}

/** Of the response `{"cms": "base64"}`. */
function cmsOf(response: Buffer): Buffer {
  const cms = field(response);
  const bytes = Buffer.from(typeof cms === 'string' ? cms : '', 'base64');
  if (bytes.byteLength === 0)
    throw new ExchangeFault('Its response is not {"cms": "the CMS in base64"}.', true);
  return bytes;
}

function field(response: Buffer): unknown {
  try {
    return (Object(JSON.parse(response.toString())) as { readonly cms?: unknown }).cms;
  } catch {
    return undefined;
  }
}

function failed(what: string, permanent: boolean): PlatenError {
  return new PlatenError('SEAL_FAILED', `The server of digestUrl ${what}`, { permanent });
}
