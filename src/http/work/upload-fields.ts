import { z } from 'zod';
import { endOfSignedUrl } from '../../infra/egress/signed-url.ts';
import { DELIVERY_STATES, type Delivery } from '../../work/callbacks/delivery.ts';
import { hasEnded, type Job } from '../../work/jobs/job.ts';
import type { ApiDeps } from '../api-deps.ts';
import { jobErrorSchema } from './attempt-schema.ts';

/** What became of an upload. */
export const uploadSchema = z
  .strictObject({
    status: z
      .enum(DELIVERY_STATES)
      .describe(
        '`pending` until the PDF has arrived, or was given up; `failed` also for a render without a PDF.',
      ),
    attemptCount: z.int().min(0),
    responseStatus: z.int().nullable().describe('The status of the last response; null without one.'),
    error: jobErrorSchema
      .nullable()
      .describe('Why the last attempt failed: `UPLOAD_FAILED`, or `UPLOAD_URL_EXPIRED`.'),
  })
  .meta({ id: 'Upload' });

type UploadBody = z.output<typeof uploadSchema>;

/** The response fields about the uploads of jobs; none of a job without an upload. */
export async function uploadFieldsOf(
  jobs: readonly Job[],
  { uploads }: Pick<ApiDeps, 'uploads'>,
): Promise<(job: Job | undefined) => { upload?: UploadBody }> {
  const ids = jobs.filter(({ uploadUrl }) => uploadUrl !== undefined).map(({ _id }) => _id);
  const found = ids.length === 0 ? [] : await uploads.some(ids);
  const byJob = new Map(found.map((upload) => [upload._id, upload]));
  return (job) => (job?.uploadUrl === undefined ? {} : { upload: uploadBody(job, byJob.get(job._id)) });
}

function uploadBody(job: Job, upload: Delivery | undefined): UploadBody {
  if (upload !== undefined) {
    const { state, attempts, responseStatus } = upload;
    return { status: state, attemptCount: attempts, responseStatus, error: errorOf(upload) };
  }
  const never = hasEnded(job.state) && job.state !== 'completed';
  return {
    ...{ status: never ? 'failed' : 'pending', attemptCount: 0, responseStatus: null },
    error: never ? { code: 'UPLOAD_FAILED', message: 'The render has no PDF.' } : null,
  };
}

function errorOf({ url, error, lastAttemptAt }: Delivery): UploadBody['error'] {
  if (error === null) return null;
  const ends = endOfSignedUrl(url);
  const isExpired = ends !== undefined && lastAttemptAt !== null && ends <= lastAttemptAt;
  return { code: isExpired ? 'UPLOAD_URL_EXPIRED' : 'UPLOAD_FAILED', message: error };
}
