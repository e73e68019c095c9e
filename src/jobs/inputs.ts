import { mongo } from 'mongoose';
import { PlatenError } from '../errors/registry.ts';
import { MAX_INPUT_BYTES } from '../plans/plan.ts';
import { isDuplicateKey } from '../store/duplicate-key.ts';
import type { JobInput } from './job.ts';
import type { JobCollections, StoredInput } from './job-collections.ts';

/**
 * Saved before the job it belongs to; one that never got a job is swept up. The first one saved stays.
 *
 * @throws PlatenError INPUT_TOO_LARGE when template and data together are larger than can be kept.
 */
export async function saveInput(collections: JobCollections, input: JobInput): Promise<void> {
  const { _id, accountId, createdAt, ...content } = input;
  const bytes = Buffer.from(JSON.stringify(content));
  if (bytes.byteLength > MAX_INPUT_BYTES) {
    throw new PlatenError(
      'INPUT_TOO_LARGE',
      `Document and data take more than ${MAX_INPUT_BYTES} bytes together.`,
    );
  }
  const stored: StoredInput = { _id, accountId, createdAt, content: new mongo.Binary(bytes) };
  try {
    await collections.inputs.collection.insertOne(stored as never);
  } catch (error) {
    // Saved by an earlier try of the same request, which died before it could write the job.
    if (!isDuplicateKey(error)) throw error;
  }
}

export async function loadInput(collections: JobCollections, jobId: string): Promise<JobInput | undefined> {
  const stored = (await collections.inputs.collection.findOne({ _id: jobId as never })) as StoredInput | null;
  if (stored === null) return undefined;
  const { _id, accountId, createdAt, content } = stored;
  return { ...(JSON.parse(Buffer.from(content.value()).toString()) as JobInput), _id, accountId, createdAt };
}

export async function deleteInputs(collections: JobCollections, jobIds: readonly string[]): Promise<void> {
  await collections.inputs.collection.deleteMany({ _id: { $in: jobIds as never[] } });
}
