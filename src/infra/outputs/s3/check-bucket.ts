import { S3Error } from './s3-error.ts';
import type { S3Config } from './s3-variables.ts';

/** What a process does with the bucket, each with the permission it takes. */
export interface BucketSteps {
  put(): Promise<void>;
  get(): Promise<void>;
  list(): Promise<void>;
  remove(): Promise<void>;
}

const PERMISSIONS: Readonly<Record<keyof BucketSteps, string>> = {
  put: 's3:PutObject',
  get: 's3:GetObject',
  list: 's3:ListBucket',
  remove: 's3:DeleteObject',
};

/**
 * Stores, reads, lists and deletes something small.
 *
 * @throws Error that names the variable that is wrong, and says why.
 */
export async function checkBucket(steps: BucketSteps, config: S3Config, origin: string): Promise<void> {
  for (const step of ['put', 'get', 'list', 'remove'] as const) {
    try {
      await steps[step]();
    } catch (error) {
      throw new Error(explained(error as Error, PERMISSIONS[step], config, origin), { cause: error });
    }
  }
}

function explained(error: Error, permission: string, config: S3Config, origin: string): string {
  const { PLATEN_S3_BUCKET: bucket, PLATEN_S3_PREFIX: prefix = '', PLATEN_S3_REGION: region } = config;
  if (error.name === 'CredentialsProviderError')
    return `AWS_ACCESS_KEY_ID: there are no credentials for the bucket ${bucket}. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the pod's service account a role (${error.message}).`;
  if (!(error instanceof S3Error)) return `PLATEN_OUTPUT_STORE: ${error.message}`;
  const { code, status, reason: message } = error;
  if (status === 0) return `PLATEN_S3_ENDPOINT: no store answers at ${origin}: ${message}.`;
  const wrongRegion =
    code === 'PermanentRedirect' ||
    code === 'AuthorizationHeaderMalformed' ||
    code === 'IllegalLocationConstraintException';
  if (wrongRegion || (error.region !== undefined && error.region !== region))
    return `PLATEN_S3_REGION: the bucket ${bucket} is ${error.region === undefined ? `not in ${region}` : `in ${error.region}, not in ${region}`}: ${message}.`;
  switch (code) {
    case 'NoSuchBucket':
      return `PLATEN_S3_BUCKET: there is no bucket ${bucket} at ${origin}. Create it, or correct its name.`;
    case 'InvalidAccessKeyId':
      return `AWS_ACCESS_KEY_ID: the store at ${origin} does not know it.`;
    case 'SignatureDoesNotMatch':
      return `AWS_SECRET_ACCESS_KEY: it is not the secret of AWS_ACCESS_KEY_ID: ${message}.`;
    case 'ExpiredToken':
    case 'InvalidToken':
      return `AWS_SESSION_TOKEN: ${message}.`;
    case 'RequestTimeTooSkewed':
      return `PLATEN_OUTPUT_STORE: the clock of this machine differs from the store's: ${message}.`;
    default:
  }
  if (/\bKMS\b/i.test(message)) return `PLATEN_S3_KMS_KEY: ${message}.`;
  if (status === 403)
    return `PLATEN_S3_BUCKET: the credentials may not do what ${permission} allows in ${bucket}/${prefix}: ${message}.`;
  return `PLATEN_S3_ENDPOINT: the store at ${origin} answers ${status}: ${message}.`;
}
