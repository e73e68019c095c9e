import { createHash } from 'node:crypto';
import { PlatenError } from '../../infra/errors/registry.ts';
import { contentDisposition } from '../../infra/outputs/file-name.ts';
import { inMemory } from '../../infra/outputs/output-store.ts';
import { type Batch, hasFinished } from '../../work/batches/batch.ts';
import type { Job } from '../../work/jobs/job.ts';
import { outputExpiry } from '../../work/jobs/job-record.ts';
import { withoutFile } from '../../work/jobs/submission/render-service.ts';
import type { ApiDeps } from '../api-deps.ts';
import type { FileBody } from '../request/route.ts';

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
  const keptUntil = outputExpiry(job);
  if (keptUntil === null) throw withoutFile(job);
  const [now, ends] = [clock.now(), until ?? keptUntil];
  const ofStore = await renders.addressAtStore(job, ends, now);
  if (ofStore !== undefined) return { url: ofStore.url, expiresAt: ofStore.expiresAt.toISOString() };
  const { token, expiresAt } = links.sign(job._id, job.accountId, ends, now);
  return { url: fileAddress(publicUrl(), token), expiresAt: expiresAt.toISOString() };
}

/**
 * The PDF of a job for its caller; one that is not kept is deleted when the caller has received it.
 *
 * @param offered what a worker has sent while it was being stored; default: the PDF is read from the store.
 */
export async function deliveredOutput(
  job: Job,
  { renders, delivered }: Pick<ApiDeps, 'renders' | 'delivered'>,
  offered?: Uint8Array,
): Promise<FileBody> {
  const stored = isOutputOf(job, offered) ? inMemory(offered) : await renders.openOutput(job);
  // An upload reads it as well, and deletes it in the end.
  if (!job.keepsNothing || job.uploadUrl !== undefined) return stored;
  return { ...stored, onSent: () => void delivered.delete(job) };
}

/** Whether it is what was stored: another attempt may have rendered other bytes. */
function isOutputOf({ output }: Job, offered: Uint8Array | undefined): offered is Uint8Array {
  return offered !== undefined && output?.sha256 === createHash('sha256').update(offered).digest('hex');
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
