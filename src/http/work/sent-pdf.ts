import { PlatenError } from '../../infra/errors/registry.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { JobSource } from '../../work/inputs/inputs.ts';
import { type Job, keptOutput } from '../../work/jobs/job.ts';
import type { ApiDeps } from '../api-deps.ts';
import type { ConversionRequest } from './conversion-schema.ts';

type SentPdf = Pick<ConversionRequest, 'pdf' | 'jobId'>;

/**
 * The PDF of a request as the source of a job. That of another job stays where it is, and is read when it is converted.
 *
 * @throws PlatenError NOT_FOUND.
 */
export async function sentPdfOf(
  { pdf, jobId }: SentPdf,
  caller: Pick<Caller, 'accountId' | 'mode'>,
  { renders }: Pick<ApiDeps, 'renders'>,
): Promise<JobSource> {
  // The rule between the fields has made sure that there is one of them; the types of sources name all fields.
  if (jobId === undefined) return { mode: 'pdf', pdf } as JobSource;
  await jobWithPdf(jobId, caller, renders);
  return { mode: 'pdf', pdfJobId: jobId } as JobSource;
}

/** A job of the caller whose PDF is kept. @throws PlatenError NOT_FOUND. */
export async function jobWithPdf(
  jobId: string,
  caller: Pick<Caller, 'accountId' | 'mode'>,
  renders: ApiDeps['renders'],
): Promise<Job> {
  const job = await renders.get(caller, jobId);
  if (keptOutput(job) === null) throw new PlatenError('NOT_FOUND', `The job ${jobId} has no PDF.`);
  return job;
}
