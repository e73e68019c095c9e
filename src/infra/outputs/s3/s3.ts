import { createHash, randomUUID } from 'node:crypto';
import { PlatenError } from '../../errors/registry.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { contentDisposition } from '../file-name.ts';
import { PDF } from '../media-type.ts';
import { HOUR_MS, mediaTypeOf, type OutputKey, type OutputStore, outputKey } from '../output-store.ts';
import { Availability } from './availability.ts';
import { bucketAddress, publicBucketAddress } from './bucket-address.ts';
import { checkBucket } from './check-bucket.ts';
import { deleteObjects, firstFolders, keysAfter, type Repeat } from './listed-objects.ts';
import { abortUploads, MAX_SINGLE_BYTES, putInParts } from './multipart.ts';
import { S3Client } from './s3-client.ts';
import { S3Error } from './s3-error.ts';
import type { S3Config } from './s3-variables.ts';
import { createSigner } from './signer.ts';

const KEY = /^\d{1,9}\/[A-Za-z0-9_-]{1,100}\.\d{1,15}\.(?:pdf|json|xml)$/;
const HOUR = /^(\d{1,9})\//;
/** In seconds: how soon a reader may try again when the store does not answer. */
const RETRY_S = 5;

interface S3StoreOptions {
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  /** Whether this process accepts work, and so has to know whether the store takes PDFs, though it stores none itself. */
  readonly probes: boolean;
  /** Milliseconds on a monotonic clock, for tests. */
  readonly nowMs?: () => number;
}

/** A store that has connections. */
export interface S3OutputStore extends OutputStore {
  /**
   * Stores, reads, lists and deletes something small.
   *
   * @throws what is wrong.
   */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Outputs as objects of a bucket: `<prefix><expiry hour>/<job>.<fence>.pdf`, for reports `….json`, for e-invoices `….xml`. An object is seen when
 * it is complete. While the store cannot be reached, is full or refuses, `put` waits.
 */
export function createS3OutputStore(config: S3Config, options: S3StoreOptions): S3OutputStore {
  const { PLATEN_S3_PREFIX: prefix = '', PLATEN_S3_KMS_KEY: kmsKey } = config;
  const signer = createSigner(config);
  const address = bucketAddress(config);
  const client = new S3Client(address, signer);
  const publicAddress = publicBucketAddress(config);
  const encryption = kmsKey === undefined ? {} : encryptedBy(kmsKey);

  const objectOf = (key: OutputKey): string => {
    if (!KEY.test(key)) throw new RangeError('Not a key of an output.');
    return prefix + key;
  };
  const putOnce = async (key: OutputKey, body: Uint8Array, sha256: string, signal?: AbortSignal) => {
    const headers = { 'content-type': mediaTypeOf(key), ...encryption };
    const response = await client.send({ method: 'PUT', key: objectOf(key), headers, body, sha256, signal });
    await response.body.dump();
  };
  // Like an output, so that what is left of it goes with its hour.
  const id = randomUUID();
  const trialKey = (name: string) => outputKey(`${name}-${id}`, 0, new Date(Date.now() + HOUR_MS));
  const availability = new Availability({
    ...options,
    probe: options.probes
      ? (signal) => putOnce(trialKey('probe'), NOTHING, SHA256_OF_NOTHING, signal)
      : undefined,
  });
  const within: Repeat = (request) => availability.within(request);

  const store: OutputStore = {
    async put(key, pdf, signal, sha256 = digest(pdf)) {
      const object = objectOf(key);
      if (pdf.byteLength <= MAX_SINGLE_BYTES)
        return await availability.untilTaken(() => putOnce(key, pdf, sha256, signal), signal);
      const upload = {
        key: object,
        headers: { 'content-type': mediaTypeOf(key), ...encryption },
        body: pdf,
        signal,
      };
      const repeat: Repeat = (request) => availability.untilTaken(request, signal);
      await repeat(() => putInParts(client, upload, repeat));
    },

    problem: () => availability.problem(),

    async get(key) {
      const object = objectOf(key);
      try {
        const { headers, body } = await availability.within(() =>
          client.send({ method: 'GET', key: object }),
        );
        return { size: Number(headers['content-length']), stream: body };
      } catch (error) {
        if (error instanceof S3Error && error.isMissing) return undefined;
        const message = 'The PDF cannot be read at the moment.';
        throw new PlatenError('UNAVAILABLE', message, { cause: error, retryAfterSeconds: RETRY_S });
      }
    },

    async delete(...keys) {
      await deleteObjects(client, keys.map(objectOf), within);
    },

    async deleteExpired(now) {
      const isOver = (object: string) => {
        const [, hour] = HOUR.exec(object.slice(prefix.length)) ?? [];
        return hour !== undefined && Number(hour) * HOUR_MS < now.getTime();
      };
      let deleted = 0;
      // Folders are listed in order, so those of the past come first. (Hours have six digits until the year 2084.)
      const folders = await within(() => firstFolders(client, prefix));
      for (const folder of folders.filter(isOver)) {
        for (let after: string | undefined = ''; after !== undefined; ) {
          const from: string = after;
          const keys = await within(() => keysAfter(client, folder, from));
          const own = keys.filter((object) => KEY.test(object.slice(prefix.length)));
          await deleteObjects(client, own, within);
          deleted += own.length;
          after = keys.at(-1);
        }
      }
      await within(() => abortUploads(client, prefix, isOver));
      return deleted;
    },

    async address(key, { fileName, now, seconds }) {
      if (publicAddress === undefined) return undefined;
      const query = {
        'response-content-disposition': contentDisposition(fileName, 'attachment'),
        'response-content-type': PDF,
      };
      const request = { method: 'GET', address: publicAddress, key: objectOf(key), query } as const;
      return await signer.presign(request, now, seconds);
    },
  };

  return {
    ...store,
    async check() {
      const key = objectOf(trialKey('check'));
      const ask = async (method: 'PUT' | 'GET' | 'DELETE') => {
        const { body } = await client.send({ method, key, headers: method === 'PUT' ? encryption : {} });
        await body.dump();
      };
      const steps = {
        put: () => within(() => ask('PUT')),
        get: () => within(() => ask('GET')),
        list: () => within(() => keysAfter(client, prefix, '', 1)).then(() => undefined),
        remove: () => within(() => ask('DELETE')),
      };
      await checkBucket(steps, config, address.origin);
    },
    async close() {
      availability.close();
      await client.close();
    },
  };
}

const NOTHING = new Uint8Array();
const SHA256_OF_NOTHING = digest(NOTHING);

function digest(pdf: Uint8Array): string {
  return createHash('sha256').update(pdf).digest('hex');
}

/** A bucket key of S3's keeps the requests to the KMS few. */
function encryptedBy(kmsKey: string): Record<string, string> {
  return {
    'x-amz-server-side-encryption': 'aws:kms',
    'x-amz-server-side-encryption-aws-kms-key-id': kmsKey,
    'x-amz-server-side-encryption-bucket-key-enabled': 'true',
  };
}
