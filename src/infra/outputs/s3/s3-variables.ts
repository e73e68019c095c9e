import { optional, z } from 'zod';
import { httpUrl } from '../../egress/http-url.ts';

/** Without a path: below it are bucket and keys. */
const endpoint = httpUrl.refine((text) => {
  const { pathname, search, hash, username } = new URL(text);
  return pathname === '/' && search === '' && hash === '' && username === '';
}, 'must be scheme, host and port alone, as in https://s3.eu-central-1.amazonaws.com');

/** The variables of outputs in S3. They apply with PLATEN_OUTPUT_STORE=s3. */
export const s3Variables = {
  PLATEN_S3_BUCKET: optional(
    z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
        'must be the name of a bucket: 3 to 63 lower-case letters, digits, dots and dashes',
      ),
  ).describe(
    'The bucket of PLATEN_OUTPUT_STORE=s3 (docs/outputs-in-s3.md). It has to exist. Credentials are those of AWS_ACCESS_KEY_ID, or of the role of the pod.',
  ),
  PLATEN_S3_ENDPOINT: optional(endpoint).describe(
    "Address of another service with the interface of S3, such as https://minio.storage:9000. Default Amazon's of PLATEN_S3_REGION.",
  ),
  PLATEN_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, 'must be the name of a region, such as eu-central-1')
    .default('us-east-1')
    .describe('Region of the bucket, for which requests are signed.'),
  PLATEN_S3_PREFIX: optional(
    z
      .string()
      .regex(
        /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\/){1,8}$/,
        'must be folders that each end with a slash, such as platen/outputs/',
      ),
  ).describe(
    'Start of the keys of all PDFs, such as platen/. Each installation in one bucket needs its own.',
  ),
  PLATEN_S3_PATH_STYLE: optional(z.enum(['on', 'off'])).describe(
    'Whether the bucket is in the path of addresses (on), or in their host (off). Default off at Amazon, and on with PLATEN_S3_ENDPOINT.',
  ),
  PLATEN_S3_KMS_KEY: optional(z.string().min(1).max(2048)).describe(
    'Key of the KMS (its id, alias or ARN) with which the store encrypts PDFs. Default: as the bucket is set up.',
  ),
  PLATEN_S3_PUBLIC_ENDPOINT: optional(endpoint).describe(
    "Address at which callers reach the store. Set, signed addresses of PDFs lead to the store itself for 15 minutes, and their bytes do not pass the API. At Amazon it is the region's own, such as https://s3.eu-central-1.amazonaws.com.",
  ),
  AWS_ACCESS_KEY_ID: optional(z.string().min(1)).describe(
    "Credentials of PLATEN_OUTPUT_STORE=s3. Without them, Amazon's usual chain is asked: the role of the pod's service account, the files of ~/.aws, the instance.",
  ),
  AWS_SECRET_ACCESS_KEY: optional(z.string().min(1)).describe('Secret of AWS_ACCESS_KEY_ID.'),
  AWS_SESSION_TOKEN: optional(z.string().min(1)).describe(
    'Token that belongs to temporary credentials of AWS_ACCESS_KEY_ID.',
  ),
};

const schema = z.object(s3Variables);

export type S3Config = z.infer<typeof schema>;

/** Errors of how the variables were combined, for a process that stores outputs. */
export function s3ConfigErrors(given: NodeJS.ProcessEnv): string[] {
  const chosen = given.PLATEN_OUTPUT_STORE === 's3';
  const set = Object.keys(s3Variables).filter((name) => given[name] !== undefined);
  if (!chosen) {
    const own = set.filter((name) => name.startsWith('PLATEN_'));
    return own.map((name) => `PLATEN_OUTPUT_STORE: must be s3 when ${name} is set`);
  }
  const errors: string[] = [];
  if (!set.includes('PLATEN_S3_BUCKET')) errors.push('PLATEN_S3_BUCKET: required by PLATEN_OUTPUT_STORE=s3');
  if (set.includes('AWS_ACCESS_KEY_ID') !== set.includes('AWS_SECRET_ACCESS_KEY'))
    errors.push('AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: must be set together');
  if (set.includes('AWS_SESSION_TOKEN') && !set.includes('AWS_ACCESS_KEY_ID'))
    errors.push('AWS_ACCESS_KEY_ID: required when AWS_SESSION_TOKEN is set');
  return errors;
}
