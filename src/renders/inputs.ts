import type { JobInput } from './job.ts';
import type { JobCollections } from './job-collections.ts';

const DUPLICATE_KEY = 11000;

/** Saved before the job it belongs to; one that never got a job is swept up. The first one saved stays. */
export async function saveInput(collections: JobCollections, input: JobInput): Promise<void> {
  try {
    await collections.inputs.collection.insertOne(input as never);
  } catch (error) {
    // Saved by an earlier try of the same request, which died before it could write the job.
    if ((error as { code?: number }).code !== DUPLICATE_KEY) throw error;
  }
}

export async function loadInput(collections: JobCollections, jobId: string): Promise<JobInput | undefined> {
  const input = await collections.inputs.collection.findOne({ _id: jobId as never });
  return (input as JobInput | null) ?? undefined;
}

export async function deleteInputs(collections: JobCollections, jobIds: readonly string[]): Promise<void> {
  await collections.inputs.collection.deleteMany({ _id: { $in: jobIds as never[] } });
}
