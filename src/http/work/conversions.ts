import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import {
  conversionErrors,
  conversionRequestSchema,
  describeConversionError,
  SENT_PDF_FORM,
} from './conversion-schema.ts';
import { idempotencyHeaders } from './idempotency-schema.ts';
import { CONVERSION_ERRORS, JOB_RESPONSES, respondWithJob } from './job-response.ts';
import { conversionSubmissionOf } from './render-submission.ts';

const defineRoute = routesOf({ tags: ['Rendering'], auth: 'apiKey' });

const convert = defineRoute('POST /v1/pdf/convert', {
  operationId: 'convertPdf',
  summary: 'Convert a PDF that exists already',
  description:
    'The file of a form, `pdf` or `jobId` is the PDF. It becomes a job as a render does, and counts as one: see `POST /v1/pdf` for the responses. The PDF is written anew, with what the options ask for; its pages stay as they are.',
  requestsWork: true,
  headers: idempotencyHeaders,
  body: conversionRequestSchema,
  formBody: SENT_PDF_FORM,
  bodyErrors: conversionErrors,
  describeError: describeConversionError,
  responses: JOB_RESPONSES,
  errors: CONVERSION_ERRORS,
}).handledBy(async (request, deps: ApiDeps) => {
  const { body, caller } = request;
  return await respondWithJob(request, body.executionMode, deps, () =>
    conversionSubmissionOf(body, caller, deps),
  );
});

export const conversionRoutes = [convert];
