import { PlatenError } from '../../infra/errors/registry.ts';
import { contentDisposition } from '../../infra/outputs/file-name.ts';
import { type Batch, hasFinished } from '../../work/batches/batch.ts';
import type { Job } from '../../work/jobs/job.ts';
import type { ApiDeps } from '../api-deps.ts';

/**
 * A signed address of a job's PDF, and when it expires: of the output store where callers reach it, else of this API.
 *
 * @param until the latest expiry. Default: the end of the job's retention.
 * @throws PlatenError NOT_FOUND until the job is completed.
 */
export async function signedLink(
  job: Job,
  { links, publicUrl, clock, renders }: Pick<ApiDeps, 'links' | 'publicUrl' | 'clock' | 'renders'>,
  until?: Date,
): Promise<{ url: string; expiresAt: string }> {
  if (job.output === null || job.expiresAt === null) {
    throw new PlatenError('NOT_FOUND', 'The job has no file to download.', { jobId: job._id });
  }
  const [now, ends] = [clock.now(), until ?? job.expiresAt];
  const ofStore = await renders.addressAtStore(job, ends, now);
  if (ofStore !== undefined) return { url: ofStore.url, expiresAt: ofStore.expiresAt.toISOString() };
  const { token, expiresAt } = links.sign(job._id, job.accountId, ends, now);
  return { url: fileAddress(publicUrl(), token), expiresAt: expiresAt.toISOString() };
}

/** A signed address of a batch's manifest, and its expiry. @throws PlatenError NOT_FOUND until the batch ends. */
export function signedManifestLink(
  batch: Batch,
  { links, publicUrl, clock }: Pick<ApiDeps, 'links' | 'publicUrl' | 'clock'>,
): { url: string; expiresAt: string } {
  if (!hasFinished(batch))
    throw new PlatenError('NOT_FOUND', 'The batch has not ended.', { jobId: batch._id });
  const { token, expiresAt } = links.sign(
    batch._id,
    batch.accountId,
    batch.expiresAt,
    clock.now(),
    'manifest',
  );
  return { url: `${fileAddress(publicUrl(), token)}/manifest`, expiresAt: expiresAt.toISOString() };
}

/** The address of a file by the token of its link. */
export function fileAddress(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/v1/files/${token}`;
}

/** The headers of a response with a job's PDF, or another file of the job. */
export function fileHeaders(job: Pick<Job, 'fileName'>): Record<string, string> {
  return { 'Content-Disposition': contentDisposition(job.fileName, 'attachment') };
}
