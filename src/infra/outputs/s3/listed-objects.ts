import { createHash } from 'node:crypto';
import type { S3Client } from './s3-client.ts';
import { S3Error } from './s3-error.ts';
import { elementsOf, escapeText, textOf } from './xml.ts';

/** What one request lists or deletes at the most, by the interface of S3. */
const PAGE = 1000;
/** Deletions at a time, where each is a request. */
const SINGLE_AT_ONCE = 16;

/** Runs a request, repeatedly if it must. */
export type Repeat = <T>(request: () => Promise<T>) => Promise<T>;

/** The first folders below a prefix, in order: `<prefix><name>/`. */
export async function firstFolders(client: S3Client, prefix: string): Promise<string[]> {
  const query = { 'list-type': '2', delimiter: '/', prefix, 'max-keys': String(PAGE) };
  const text = await client.text({ method: 'GET', query });
  return elementsOf(text, 'CommonPrefixes').flatMap((folder) => textOf(folder, 'Prefix') ?? []);
}

/** Keys below a prefix in order, those after `after`. */
export async function keysAfter(
  client: S3Client,
  prefix: string,
  after: string,
  most = PAGE,
): Promise<string[]> {
  const query = {
    'list-type': '2',
    prefix,
    'max-keys': String(most),
    ...(after !== '' && { 'start-after': after }),
  };
  const text = await client.text({ method: 'GET', query });
  return elementsOf(text, 'Contents').flatMap((object) => textOf(object, 'Key') ?? []);
}

/**
 * Deletes objects, up to 1,000 with one request; one by one where the store has no such request. A missing one is no
 * error.
 *
 * @throws S3Error when one could not be deleted.
 */
export async function deleteObjects(
  client: S3Client,
  keys: readonly string[],
  repeat: Repeat,
): Promise<void> {
  if (keys.length < 2) return await deleteSingly(client, keys, repeat);
  for (let from = 0; from < keys.length; from += PAGE) {
    const page = keys.slice(from, from + PAGE);
    try {
      await repeat(() => deleteTogether(client, page));
    } catch (error) {
      if (!(error instanceof S3Error && isUnknownRequest(error))) throw error;
      await deleteSingly(client, page, repeat);
    }
  }
}

async function deleteTogether(client: S3Client, keys: readonly string[]): Promise<void> {
  const objects = keys.map((key) => `<Object><Key>${escapeText(key)}</Key></Object>`).join('');
  const body = Buffer.from(
    `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`,
  );
  const headers = {
    'content-type': 'application/xml',
    'content-md5': createHash('md5').update(body).digest('base64'),
  };
  const text = await client.text({ method: 'POST', query: { delete: '' }, headers, body });
  const [failed] = elementsOf(text, 'Error');
  if (failed === undefined) return;
  const [key, code = 'Unknown', message = 'not deleted'] = ['Key', 'Code', 'Message'].map((tag) =>
    textOf(failed, tag),
  );
  throw new S3Error(`DELETE ${key}`, { status: code === 'InternalError' ? 500 : 403, code, message });
}

async function deleteSingly(client: S3Client, keys: readonly string[], repeat: Repeat): Promise<void> {
  for (let from = 0; from < keys.length; from += SINGLE_AT_ONCE) {
    const some = keys.slice(from, from + SINGLE_AT_ONCE);
    await Promise.all(some.map((key) => repeat(() => deleteOne(client, key))));
  }
}

async function deleteOne(client: S3Client, key: string): Promise<void> {
  try {
    const { body } = await client.send({ method: 'DELETE', key });
    await body.dump();
  } catch (error) {
    // Some stores report a missing object.
    if (!(error instanceof S3Error && error.isMissing)) throw error;
  }
}

/** Google's store and others have no request that deletes several. */
function isUnknownRequest({ status }: S3Error): boolean {
  return status === 400 || status === 405 || status === 411 || status === 501;
}
