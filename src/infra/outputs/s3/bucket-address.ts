import type { S3Config } from './s3-variables.ts';

/** How a bucket is addressed. */
export interface BucketAddress {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The path of the bucket; empty where it is in the host. */
  readonly path: string;
}

type AddressConfig = Pick<
  S3Config,
  'PLATEN_S3_BUCKET' | 'PLATEN_S3_ENDPOINT' | 'PLATEN_S3_REGION' | 'PLATEN_S3_PATH_STYLE'
>;

/** Where a process reaches the bucket. */
export function bucketAddress(config: AddressConfig): BucketAddress {
  const amazon = `https://s3.${config.PLATEN_S3_REGION}.amazonaws.com`;
  return addressAt(config.PLATEN_S3_ENDPOINT ?? amazon, config);
}

/** Where callers reach the bucket; undefined when they do not. */
export function publicBucketAddress(
  config: AddressConfig & Pick<S3Config, 'PLATEN_S3_PUBLIC_ENDPOINT'>,
): BucketAddress | undefined {
  const { PLATEN_S3_PUBLIC_ENDPOINT: endpoint } = config;
  return endpoint === undefined ? undefined : addressAt(endpoint, config);
}

function addressAt(endpoint: string, config: AddressConfig): BucketAddress {
  const { protocol, host, origin } = new URL(endpoint);
  const { PLATEN_S3_BUCKET: bucket, PLATEN_S3_ENDPOINT, PLATEN_S3_PATH_STYLE } = config;
  const inPath = PLATEN_S3_PATH_STYLE ?? (PLATEN_S3_ENDPOINT === undefined ? 'off' : 'on');
  return inPath === 'on'
    ? { origin, path: `/${bucket}` }
    : { origin: `${protocol}//${bucket}.${host}`, path: '' };
}
