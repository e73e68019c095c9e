import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { PDF } from '../../infra/outputs/media-type.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import { hasEnded, type Job } from '../../work/jobs/job.ts';
import type { ApiDeps } from '../api-deps.ts';
import { defineRoute } from '../request/route.ts';
import { htmlBody } from './html-body.ts';
import { idempotently } from './idempotency.ts';
import { idempotencyHeaders, REPLAYED_HEADER } from './idempotency-schema.ts';
import { fileHeaders, signedLink } from './job-files.ts';
import { renderErrors, renderRequestSchema } from './render-request-schema.ts';
import { renderSubmissionOf, submitOnce } from './render-submission.ts';

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

const acceptedJob = z
  .strictObject({
    success: z.literal(true),
    jobId: z.uuid(),
    status: z.literal('queued'),
    statusUrl: z.string(),
    fileUrl: z.string(),
  })
  .meta({ id: 'AcceptedJob' });

const render = defineRoute({
  method: 'post',
  path: '/v1/pdf',
  operationId: 'renderPdf',
  summary: 'Render one document',
  description:
    'Exactly one of `html`, `url` and `templateId` is the input. If the render ends within the sync wait window, the response is its output. If it takes longer, or an attempt has failed and will be repeated, the response is 202 and the render goes on as a job.',
  tags: ['Rendering'],
  auth: 'apiKey',
  requestsWork: true,
  headers: idempotencyHeaders,
  body: renderRequestSchema,
  textBody: htmlBody,
  bodyErrors: renderErrors,
  responses: {
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
        operations: [
          'GET /v1/pdf/jobs/:id',
          'GET /v1/pdf/jobs/:id/file',
          'GET /v1/pdf/jobs/:id/download-url',
        ],
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
  },
  errors: [
    'NOT_FOUND',
    'PLAN_LIMIT',
    'QUOTA_EXCEEDED',
    'TEST_QUOTA_EXCEEDED',
    'OVERAGE_PENDING',
    'STORAGE_FULL',
    'IDEMPOTENCY_MISMATCH',
    'IDEMPOTENCY_IN_PROGRESS',
    'TOO_MANY_WAITING',
    'INVALID_URL',
    'URL_BLOCKED',
    'UPLOAD_URL_EXPIRED',
    'URL_UNREACHABLE',
    'SELECTOR_TIMEOUT',
    'CONDITION_TIMEOUT',
    'EXCEPTION_THROWN',
    'ASSET_FAILED',
    'GLYPH_MISSING',
    'DOCUMENT_FAULT',
    'CONFORMANCE_FAILED',
    'SEAL_FAILED',
    'TIMESTAMP_FAILED',
    'EINVOICE_INVALID',
    'COOKIE_INVALID',
    'PAGE_RANGE_INVALID',
    'TEMPLATE_ERROR',
    'DOCUMENT_LIMIT',
    'OUTPUT_TOO_LARGE',
    'RENDER_TIMEOUT',
    'BROWSER_CRASHED',
    'WORKER_LOST',
    'RENDER_FAILED',
    'CANCELLED',
    'EXPIRED',
  ],
}).handledBy(async (request, deps: ApiDeps) => {
  const { caller, headers, aboutJob } = request;
  const key = headers['Idempotency-Key'];
  return await idempotently(request, key, deps.idempotency, {
    async run(lock) {
      const { body, admission } = request;
      const { jobId, outcome, stopWaiting } = await submitOnce(
        { caller, execution: body.executionMode, admission },
        deps,
        lock,
        () => renderSubmissionOf(body, caller, deps),
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
      return hasEnded(job.state) ? await result(job, deps) : accepted(jobId);
    },
    async replay(jobId, status) {
      aboutJob(jobId);
      if (status === 202) return accepted(jobId);
      return await result(await deps.renders.get(caller, jobId), deps);
    },
  });
});

export const renderRoutes = [render];

function accepted(jobId: string) {
  const statusUrl = `/v1/pdf/jobs/${jobId}`;
  return {
    status: 202,
    json: { success: true, jobId, status: 'queued', statusUrl, fileUrl: `${statusUrl}/file` },
  } as const;
}

/** @throws PlatenError with the job's own code when it has failed or was cancelled. */
async function result(job: Job, deps: ApiDeps) {
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
  return await sent(job, headers, deps);
}

/** The PDF itself; a 202 when the account has reached its bound of concurrent downloads. */
async function sent(job: Job, headers: Readonly<Record<string, string | number>>, deps: ApiDeps) {
  try {
    return await withDownload(deps.downloads.results, job.accountId, async () => {
      const body = await deps.renders.openOutput(job);
      return { status: 200, body, headers: { ...fileHeaders(job), ...headers } } as const;
    });
  } catch (error) {
    if (error instanceof PlatenError && error.code !== 'NOT_FOUND') return accepted(job._id);
    throw error;
  }
}

function abandon(deps: ApiDeps, caller: Caller, jobId: string): void {
  deps.renders.cancelIfNotStarted(caller.accountId, jobId).catch((error: unknown) => {
    deps.logger.warn({ err: error, jobId }, 'the render of a caller that hung up could not be cancelled');
  });
}
