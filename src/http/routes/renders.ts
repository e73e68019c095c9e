import { z } from 'zod';
import type { Caller } from '../../accounts/caller.ts';
import { PlatenError } from '../../errors/registry.ts';
import type { IdempotencyLock } from '../../idempotency/idempotency-store.ts';
import { hasEnded, type Job } from '../../jobs/job.ts';
import type { AdmissionTimer } from '../../limits/admission-timer.ts';
import type { Accepted, RenderOrder } from '../../orders/render-service.ts';
import { safeFileName } from '../../pdf/file-name.ts';
import type { ApiParts } from '../api-parts.ts';
import { checkWebhook } from '../check-webhook.ts';
import { withPlace } from '../downloads.ts';
import { idempotently } from '../idempotency.ts';
import { fileHeaders, signedLink } from '../job-files.ts';
import { optionsFor, sourceOf } from '../render-source.ts';
import { defineRoute } from '../route.ts';
import { idempotencyHeaders, REPLAYED_HEADER } from '../schemas/idempotency.ts';
import { type RenderRequest, renderFaults, renderRequestSchema } from '../schemas/render-request.ts';

const DEFAULT_FILE_NAME = 'document.pdf';
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
  summary: 'Render one document',
  description:
    'Exactly one of `html`, `url` and `templateId` is the input. A render that ends within the sync wait window is answered with its output; one that takes longer, or whose attempt failed and will be repeated, is answered 202 and goes on.',
  tags: ['Rendering'],
  auth: 'apiKey',
  asksForWork: true,
  headers: idempotencyHeaders,
  body: renderRequestSchema,
  bodyFaults: renderFaults,
  responses: {
    200: {
      description: 'Completed. With `output` = `binary` the PDF, with `url` where to download it.',
      contentType: 'application/pdf',
      schema: renderResult,
      headers: REPLAYED_HEADER,
      serviceHeaders: {
        'Job-Id': 'The job that rendered it.',
        Pages: 'Number of pages.',
        'Processing-Time-Ms': 'Milliseconds that the render took.',
        'Expires-At': 'End of the retention window.',
      },
      leadsTo: {
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
      leadsTo: {
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
    'URL_UNREACHABLE',
    'SELECTOR_TIMEOUT',
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
}).handledBy(async (request, parts: ApiParts) => {
  const { caller, headers, aboutJob } = request;
  const key = headers['Idempotency-Key'];
  return await idempotently(request, key, parts.idempotency, {
    async run(lock) {
      if (request.body.executionMode === 'sync') parts.turns.isAwaited(caller.accountId);
      else parts.turns.isForBackground(caller.accountId);
      const { jobId, outcome, stopWaiting } = await takeUp(request, parts, lock);
      request.bodyDone();
      aboutJob(jobId);
      request.onHangUp(() => {
        stopWaiting();
        // Without a key the caller cannot ask for this render again, so nobody would fetch it.
        if (key === undefined) abandon(parts, caller, jobId);
      });
      const end = await outcome;
      if (end.kind !== 'ended') return accepted(jobId);
      const job = end.job ?? (await parts.renders.get(caller, jobId));
      return hasEnded(job.state) ? await result(job, parts) : accepted(jobId);
    },
    async replay(jobId, status) {
      aboutJob(jobId);
      if (status === 202) return accepted(jobId);
      return await result(await parts.renders.get(caller, jobId), parts);
    },
  });
});

export const renderRoutes = [render];

/** Submits the order, or goes on with what an earlier request with the same key has begun. */
async function takeUp(
  { body, caller, admissionTimer }: { body: RenderRequest; caller: Caller; admissionTimer: AdmissionTimer },
  parts: ApiParts,
  lock: IdempotencyLock | undefined,
): Promise<Accepted> {
  if (lock?.resumed) {
    const begun = await parts.renders.resume(caller.accountId, lock.workId, body.executionMode);
    if (begun !== undefined) return begun;
  }
  const refusal = parts.admission(caller.plan);
  if (refusal !== undefined) throw refusal;
  const order = await orderOf(body, caller, parts);
  lock?.assertHeld();
  const named = lock === undefined ? order : { ...order, jobId: lock.workId };
  return await parts.renders.submit(caller, named, admissionTimer);
}

async function orderOf(body: RenderRequest, caller: Caller, parts: ApiParts): Promise<RenderOrder> {
  const { webhookUrl } = body;
  checkWebhook(webhookUrl, caller.plan, parts);
  return {
    source: await sourceOf(body, caller, parts),
    options: optionsFor(body, caller),
    output: body.output,
    fileName: safeFileName(body.filename, DEFAULT_FILE_NAME),
    execution: body.executionMode,
    ...(webhookUrl !== undefined && { webhookUrl }),
  };
}

function accepted(jobId: string) {
  const statusUrl = `/v1/pdf/jobs/${jobId}`;
  return {
    status: 202,
    json: { success: true, jobId, status: 'queued', statusUrl, fileUrl: `${statusUrl}/file` },
  } as const;
}

/** @throws PlatenError with the job's own code when it has failed or was cancelled. */
async function result(job: Job, parts: ApiParts) {
  if (job.output === null) {
    throw new PlatenError(job.error?.code ?? 'INTERNAL', job.error?.message, { jobId: job._id });
  }
  const prefix = parts.config.PLATEN_HEADER_PREFIX;
  const headers = {
    [`${prefix}Job-Id`]: job._id,
    [`${prefix}Pages`]: job.output.pages,
    [`${prefix}Processing-Time-Ms`]: job.processingTimeMs,
    [`${prefix}Expires-At`]: job.expiresAt?.toISOString() ?? '',
  };
  if (job.outputMode === 'url') {
    const { url, expiresAt } = signedLink(job, parts);
    const metadata = {
      size: job.output.size,
      processingTime: job.processingTimeMs,
      mode: job.inputMode,
      format: job.format,
    };
    return { status: 200, json: { success: true, url, expiresAt, metadata }, headers } as const;
  }
  return await sent(job, headers, parts);
}

/** The PDF itself; when the caller's account is being sent as many as may be, it is to be fetched later. */
async function sent(job: Job, headers: Readonly<Record<string, string | number>>, parts: ApiParts) {
  try {
    return await withPlace(parts.downloads.results, job.accountId, async () => {
      const body = await parts.renders.openOutput(job);
      return { status: 200, body, headers: { ...fileHeaders(job), ...headers } } as const;
    });
  } catch (error) {
    if (error instanceof PlatenError && error.code !== 'NOT_FOUND') return accepted(job._id);
    throw error;
  }
}

function abandon(parts: ApiParts, caller: Caller, jobId: string): void {
  parts.renders.cancelIfNotStarted(caller.accountId, jobId).catch((error: unknown) => {
    parts.logger.warn({ err: error, jobId }, 'the render of a caller that hung up goes on');
  });
}
