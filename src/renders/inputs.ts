import type { JobInput } from './job.ts';
import type { JobCollections } from './job-collections.ts';

/** Saved before the job it belongs to; one that never got a job is swept up. */
export async function saveInput(collections: JobCollections, input: JobInput): Promise<void> {
  await collections.inputs.collection.insertOne(input as never);
}

export async function loadInput(collections: JobCollections, jobId: string): Promise<JobInput | undefined> {
  const input = await collections.inputs.collection.findOne({ _id: jobId as never });
  return (input as JobInput | null) ?? undefined;
}

export async function deleteInputs(collections: JobCollections, jobIds: readonly string[]): Promise<void> {
  await collections.inputs.collection.deleteMany({ _id: { $in: jobIds as never[] } });
}
