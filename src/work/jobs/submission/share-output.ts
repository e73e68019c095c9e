import type { Clock } from '../../../infra/clock.ts';
import { PlatenError } from '../../../infra/errors/registry.ts';
import type { AuditLog, DoneBy } from '../../../tenants/audit/audit-log.ts';
import type { Job } from '../job.ts';
import type { DownloadLinks } from './download-links.ts';

const HOUR_MS = 3_600_000;

/**
 * Makes a link by which anybody can download the PDF of a job, and records that first: a link that nobody knows of could
 * not be found out about.
 *
 * @param hours for how long it is valid; undefined: as long as the PDF is kept, which is also its bound.
 * @throws PlatenError NOT_FOUND until the job is completed.
 */
export async function shareOutput(
  job: Job,
  hours: number | undefined,
  by: DoneBy,
  deps: { readonly links: DownloadLinks; readonly audit: Pick<AuditLog, 'record'>; readonly clock: Clock },
): Promise<{ token: string; expiresAt: Date }> {
  if (job.output === null || job.expiresAt === null)
    throw new PlatenError('NOT_FOUND', 'The job has no file to share.', { jobId: job._id });
  const now = deps.clock.now();
  const kept = job.expiresAt.getTime();
  const expiresAt = new Date(hours === undefined ? kept : Math.min(kept, now.getTime() + hours * HOUR_MS));
  await deps.audit.record({
    ...by,
    accountId: job.accountId,
    action: 'render.shared',
    targetId: job._id,
    details: { name: job.fileName, until: expiresAt.toISOString() },
  });
  return { token: deps.links.share(job._id, job.accountId, expiresAt, now), expiresAt };
}
