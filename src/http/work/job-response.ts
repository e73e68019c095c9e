import { z } from 'zod';
import { type ErrorCode, PlatenError } from '../../infra/errors/registry.ts';
import { PDF } from '../../infra/outputs/media-type.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import type { PendingAdmission } from '../../infra/overload/pending-admission.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import { hasEnded, type Job } from '../../work/jobs/job.ts';
import type { RenderSubmission } from '../../work/jobs/submission/render-service.ts';
import type { ApiDeps } from '../api-deps.ts';
import type { AnyRequest, Responses } from '../request/route.ts';
import { idempotently } from './idempotency.ts';
import { REPLAYED_HEADER } from './idempotency-schema.ts';
import { deliveredOutput, fileHeaders, signedLink } from './job-files.ts';
import { SUBMISSION_ERRORS, submitOnce } from './render-submission.ts';

const renderResult = z
  .strictObject({
    success: z.literal(true),
    url: z.string().describe('Signed download address.'),
    expiresAt: z.iso.datetime(),
    metadata: z.strictObject({
      size: z.int().describe('Bytes.'),
      processingTime: z.int().describe('Milliseconds.'),
      mode: z.string().describe('Input mode.'),
      format: z.string().describe('Paper format.'),
    }),
  })
  .meta({ id: 'RenderResult' });

export const acceptedJob = z
  .strictObject({
    success: z.literal(true),
    jobId: z.uuid(),
    status: z.literal('queued'),
    statusUrl: z.string(),
    fileUrl: z.string(),
  })
  .meta({ id: 'AcceptedJob' });

/** The responses of a route that makes a job of its request: the outcome, if that comes soon, or where to wait for it. */
export const JOB_RESPONSES = {
  200: {
    description:
      'Completed: the PDF. With `output` = `url` it is JSON instead, a `RenderResult`, with the address to download it from.',
    contentType: PDF,
    schema: renderResult,
    headers: REPLAYED_HEADER,
    serviceHeaders: {
      'Job-Id': 'The job that rendered it.',
      Pages: 'Number of pages.',
      'Processing-Time-Ms': 'Duration of the render in milliseconds.',
      'Expires-At': 'End of the retention window.',
    },
    links: {
      operations: ['GET /v1/pdf/jobs/:id', 'GET /v1/pdf/jobs/:id/file', 'GET /v1/pdf/jobs/:id/download-url'],
      names: { id: { serviceHeader: 'Job-Id' } },
    },
  },
  202: {
    description: 'Accepted; follow the job.',
    schema: acceptedJob,
    headers: REPLAYED_HEADER,
    links: {
      operations: ['GET /v1/pdf/jobs/:id', 'DELETE /v1/pdf/jobs/:id'],
      names: { id: { field: 'jobId' } },
    },
  },
} as const satisfies Responses;

/** The errors with which such a request is rejected, or its job may end, whatever the job is made of. */
export const JOB_ERRORS = [
  ...SUBMISSION_ERRORS,
  'TOO_MANY_WAITING',
  'GONE',
  'CONFORMANCE_FAILED',
  'FORM_FIELD_UNKNOWN',
  'FORM_VALUE_INVALID',
  'SEAL_FAILED',
  'TIMESTAMP_FAILED',
  'REVOCATION_FAILED',
  'DOCUMENT_LIMIT',
  'OUTPUT_TOO_LARGE',
  'RENDER_TIMEOUT',
  'WORKER_LOST',
  'RENDER_FAILED',
  'CANCELLED',
  'EXPIRED',
] as const satisfies readonly ErrorCode[];

/** The same of a PDF that exists. */
export const CONVERSION_ERRORS = [
  ...JOB_ERRORS,
  'PDF_INVALID',
  'PDF_ENCRYPTED',
  'PDF_SIGNED',
] as const satisfies readonly ErrorCode[];

/** A request whose job is to be awaited. */
interface JobRequest
  extends Pick<AnyRequest, 'route' | 'bodyHash' | 'setHeader' | 'onHangUp' | 'aboutJob' | 'bodyDone'> {
  readonly caller: Caller;
  readonly headers: { readonly 'Idempotency-Key'?: string | undefined };
  readonly admission: PendingAdmission;
}

/**
 * Submits a job, and responds with its outcome, or with where to wait for it.
 *
 * @param execution whether the caller waits.
 * @param prepare makes the submission; called only when nothing has been begun.
 * @throws PlatenError with the job's own code when it has failed or was cancelled; and as `submitOnce`.
 */
export async function respondWithJob(
  request: JobRequest,
  execution: RenderSubmission['execution'],
  deps: ApiDeps,
  prepare: () => Promise<RenderSubmission>,
) {
  const { caller, headers, aboutJob, admission } = request;
  const key = headers['Idempotency-Key'];
  return await idempotently(request, key, deps.idempotency, {
    async run(lock) {
      const { jobId, outcome, stopWaiting } = await submitOnce(
        { caller, execution, admission },
        deps,
        lock,
        prepare,
      );
      request.bodyDone();
      aboutJob(jobId);
      request.onHangUp(() => {
        stopWaiting();
        // Without a key the caller cannot repeat the request, so nobody would fetch the PDF.
        if (key === undefined) abandon(deps, caller, jobId);
      });
      const end = await outcome;
      if (end.kind !== 'ended') return accepted(jobId);
      const job = end.job ?? (await deps.renders.get(caller, jobId));
      return hasEnded(job.state) ? await result(job, deps, end.offered) : accepted(jobId);
    },
    async replay(jobId, status) {
      aboutJob(jobId);
      if (status === 202) return accepted(jobId);
      return await result(await deps.renders.get(caller, jobId), deps);
    },
  });
}

function accepted(jobId: string) {
  const statusUrl = `/v1/pdf/jobs/${jobId}`;
  return {
    status: 202,
    json: { success: true, jobId, status: 'queued', statusUrl, fileUrl: `${statusUrl}/file` },
  } as const;
}

/**
 * @param offered the PDF, if the worker has sent it.
 * @throws PlatenError with the job's own code when it has failed or was cancelled.
 */
async function result(job: Job, deps: ApiDeps, offered?: Uint8Array) {
  if (job.output === null) {
    throw new PlatenError(job.error?.code ?? 'INTERNAL', job.error?.message, { jobId: job._id });
  }
  const prefix = deps.config.PLATEN_HEADER_PREFIX;
  const headers = {
    [`${prefix}Job-Id`]: job._id,
    [`${prefix}Pages`]: job.output.pages,
    [`${prefix}Processing-Time-Ms`]: job.processingTimeMs,
    [`${prefix}Expires-At`]: job.expiresAt?.toISOString() ?? '',
  };
  if (job.outputMode === 'url') {
    const { url, expiresAt } = await signedLink(job, deps);
    const metadata = {
      size: job.output.size,
      processingTime: job.processingTimeMs,
      mode: job.inputMode,
      format: job.format,
    };
    return { status: 200, json: { success: true, url, expiresAt, metadata }, headers } as const;
  }
  return await sent(job, headers, deps, offered);
}

/** The PDF itself; a 202 when the account has reached its bound of concurrent downloads. */
async function sent(
  job: Job,
  headers: Readonly<Record<string, string | number>>,
  deps: ApiDeps,
  offered: Uint8Array | undefined,
) {
  try {
    return await withDownload(deps.downloads.results, job.accountId, async () => {
      const body = await deliveredOutput(job, deps, offered);
      return { status: 200, body, headers: { ...fileHeaders(job), ...headers } } as const;
    });
  } catch (error) {
    if (!(error instanceof PlatenError)) throw error;
    if (error.code !== 'NOT_FOUND') return accepted(job._id);
    if (!job.keepsNothing) throw error;
    // The request is repeated after the response to an earlier one was received.
    throw new PlatenError('GONE', error.message, { jobId: job._id });
  }
}

function abandon(deps: ApiDeps, caller: Caller, jobId: string): void {
  deps.renders.cancelIfNotStarted(caller.accountId, jobId).catch((error: unknown) => {
    deps.logger.warn({ err: error, jobId }, 'the render of a caller that hung up could not be cancelled');
  });
}
