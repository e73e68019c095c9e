import type { Batch } from '../../work/batches/batch.ts';
import type { BatchOwner } from '../../work/batches/batch-service.ts';
import type { Job } from '../../work/jobs/job.ts';
import { jobRecord } from '../../work/jobs/job-record.ts';
import type { ApiDeps } from '../api-deps.ts';

/** A request about one job or batch. A caller without a mode, the account itself, sees those of live and test keys. */
export interface WorkRequest {
  readonly params: { readonly id: string };
  readonly caller: BatchOwner;
  readonly aboutJob: (jobId: string) => void;
}

/** @throws PlatenError NOT_FOUND */
export function requestedJob({ params, caller, aboutJob }: WorkRequest, deps: ApiDeps): Promise<Job> {
  aboutJob(params.id);
  return deps.renders.get(caller, params.id);
}

/** @throws PlatenError NOT_FOUND */
export function requestedBatch({ params, caller, aboutJob }: WorkRequest, deps: ApiDeps): Promise<Batch> {
  aboutJob(params.id);
  return deps.batches.get(caller, params.id);
}

/** Cancels the job. @throws PlatenError NOT_FOUND; JOB_ENDED when it has already ended. */
export async function cancelRequestedJob({ params, caller, aboutJob }: WorkRequest, deps: ApiDeps) {
  aboutJob(params.id);
  return { status: 200, json: jobRecord(await deps.renders.cancel(caller, params.id)) } as const;
}
