import type { Repeat } from './listed-objects.ts';
import type { S3Client } from './s3-client.ts';
import { S3Error } from './s3-error.ts';
import { elementsOf, textOf } from './xml.ts';

/** A larger object is stored in parts, so that a broken connection costs one part. Bytes. */
export const MAX_SINGLE_BYTES = 32 * 1024 * 1024;
/** Bytes; the largest PDF of a plan, 1 GiB, has 64 parts of the 10,000 that are allowed. */
const PART_BYTES = 16 * 1024 * 1024;
/** The store knows nothing of an upload (any more). */
const GONE = 'NoSuchUpload';

interface Upload {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Stores an object in parts, one after another; nothing is seen of it before the last.
 *
 * @param repeat runs a request until the store takes it.
 * @throws when the store knows nothing of the upload any more, and for a last request that failed: the whole has to be
 * repeated then.
 */
export async function putInParts(
  client: S3Client,
  { key, headers, body, signal }: Upload,
  repeat: Repeat,
): Promise<void> {
  const begun = await repeat(() =>
    client.text({ method: 'POST', key, query: { uploads: '' }, headers, signal }),
  );
  const uploadId = textOf(begun, 'UploadId');
  if (uploadId === undefined) throw new Error(`The store began no upload of ${key}.`);
  try {
    const tags: string[] = [];
    for (let from = 0; from < body.byteLength; from += PART_BYTES) {
      const part = body.subarray(from, from + PART_BYTES);
      const query = { partNumber: String(tags.length + 1), uploadId };
      const tag = await repeat(async () => {
        const response = await client.send({ method: 'PUT', key, query, body: part, signal });
        await response.body.dump();
        return String(response.headers.etag);
      });
      tags.push(tag);
    }
    const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
    const list = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    await client.text({ method: 'POST', key, query: { uploadId }, body: list, signal });
  } catch (error) {
    // Nobody waits for it: what is left of an upload goes with its hour.
    abortUpload(client, key, uploadId).catch(() => undefined);
    // Another upload may succeed.
    throw error instanceof S3Error && error.code === GONE
      ? new Error(error.message, { cause: error })
      : error;
  }
}

/** Deletes the parts of uploads that were never completed, if `isOver` says so of their key. */
export async function abortUploads(
  client: S3Client,
  prefix: string,
  isOver: (key: string) => boolean,
): Promise<void> {
  // Each call lists up to 1,000, and those that stay are the few that are being written.
  const text = await client.text({ method: 'GET', query: { uploads: '', prefix } });
  for (const upload of elementsOf(text, 'Upload')) {
    const [key, id] = [textOf(upload, 'Key'), textOf(upload, 'UploadId')];
    if (key !== undefined && id !== undefined && isOver(key)) await abortUpload(client, key, id);
  }
}

async function abortUpload(client: S3Client, key: string, uploadId: string): Promise<void> {
  const { body } = await client.send({ method: 'DELETE', key, query: { uploadId } });
  await body.dump();
}
