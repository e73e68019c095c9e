import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import { htmlBody } from './html-body.ts';
import { idempotencyHeaders } from './idempotency-schema.ts';
import { JOB_ERRORS, JOB_RESPONSES, respondWithJob } from './job-response.ts';
import { renderErrors, renderRequestSchema } from './render-request-schema.ts';
import { renderSubmissionOf } from './render-submission.ts';

const defineRoute = routesOf({ tags: ['Rendering'], auth: 'apiKey' });

const render = defineRoute('POST /v1/pdf', {
  operationId: 'renderPdf',
  summary: 'Render one document',
  description:
    'Exactly one of `html`, `url` and `templateId` is the input. If the render ends within the sync wait window, the response is its output. If it takes longer, or an attempt has failed and will be repeated, the response is 202 and the render goes on as a job.',
  requestsWork: true,
  headers: idempotencyHeaders,
  body: renderRequestSchema,
  textBody: htmlBody,
  bodyErrors: renderErrors,
  responses: JOB_RESPONSES,
  errors: [
    ...JOB_ERRORS,
    'URL_UNREACHABLE',
    'SELECTOR_TIMEOUT',
    'CONDITION_TIMEOUT',
    'EXCEPTION_THROWN',
    'ASSET_FAILED',
    'GLYPH_MISSING',
    'DOCUMENT_FAULT',
    'COOKIE_INVALID',
    'PAGE_RANGE_INVALID',
    'TEMPLATE_ERROR',
    'BROWSER_CRASHED',
  ],
}).handledBy(async (request, deps: ApiDeps) => {
  const { body, caller } = request;
  return await respondWithJob(request, body.executionMode, deps, () =>
    renderSubmissionOf(body, caller, deps),
  );
});

export const renderRoutes = [render];
