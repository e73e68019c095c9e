import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import { conversionErrors } from './conversion-schema.ts';
import { FILL_FORM, FLATTEN_FORM, fillRequestSchema, flattenRequestSchema } from './form-schema.ts';
import { idempotencyHeaders } from './idempotency-schema.ts';
import { CONVERSION_ERRORS, JOB_RESPONSES, respondWithJob } from './job-response.ts';
import { conversionSubmissionOf } from './render-submission.ts';

const defineRoute = routesOf({ tags: ['Rendering'], auth: 'apiKey' });

const fill = defineRoute('POST /v1/pdf/fill', {
  operationId: 'fillPdf',
  summary: 'Fill in the fields of a PDF',
  description:
    'A conversion with the option `fill`: see `POST /v1/pdf/convert`. The PDF may be one of Platen, or any other with fields (AcroForm). With `flatten`, its fields become a part of the pages.',
  requestsWork: true,
  headers: idempotencyHeaders,
  body: fillRequestSchema,
  formBody: FILL_FORM,
  bodyErrors: conversionErrors,
  responses: JOB_RESPONSES,
  errors: CONVERSION_ERRORS,
}).handledBy(async (request, deps: ApiDeps) => {
  const { values, flatten, ...sent } = request.body;
  const body = { ...sent, options: { fill: { values, flatten } } };
  return await respondWithJob(request, body.executionMode, deps, () =>
    conversionSubmissionOf(body, request.caller, deps),
  );
});

const flatten = defineRoute('POST /v1/pdf/flatten', {
  operationId: 'flattenPdf',
  summary: 'Make the fields of a PDF a part of its pages',
  description:
    'A conversion with the option `fill`: see `POST /v1/pdf/convert`. The PDF looks the same, and nothing in it can be filled in any more.',
  requestsWork: true,
  headers: idempotencyHeaders,
  body: flattenRequestSchema,
  formBody: FLATTEN_FORM,
  bodyErrors: conversionErrors,
  responses: JOB_RESPONSES,
  errors: CONVERSION_ERRORS,
}).handledBy(async (request, deps: ApiDeps) => {
  const body = { ...request.body, options: { fill: { flatten: true } } };
  return await respondWithJob(request, body.executionMode, deps, () =>
    conversionSubmissionOf(body, request.caller, deps),
  );
});

export const formRoutes = [fill, flatten];
