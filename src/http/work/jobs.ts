import { z } from 'zod';
import { PDF, XML } from '../../infra/outputs/media-type.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import { JOB_STATUSES, jobRecord, statesOf } from '../../work/jobs/job-record.ts';
import type { ApiDeps } from '../api-deps.ts';
import { page, pagingByTime } from '../request/paging-schema.ts';
import { routesOf } from '../request/route.ts';
import { downloadUrlSchema } from './download-url-schema.ts';
import { deliveredOutput, fileHeaders, signedLink } from './job-files.ts';
import { jobRecordSchema } from './job-record-schema.ts';
import { reportRoute } from './render-report.ts';
import { cancelRequestedJob, requestedJob } from './requested-work.ts';
import { uploadFieldsOf } from './upload-fields.ts';

const group = { tags: ['Jobs'], auth: 'apiKey' } as const;
const defineRoute = routesOf(group);
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const jobList = z.strictObject({ ...page, jobs: z.array(jobRecordSchema) }).meta({ id: 'JobList' });
const list = defineRoute('GET /v1/pdf/jobs', {
  operationId: 'listJobs',
  summary: 'List the jobs of the account',
  description: 'A test key sees the jobs of test keys, a live key those of live keys.',
  query: z.strictObject({
    status: z.enum(JOB_STATUSES).optional().describe('Only jobs in this state.'),
    ...pagingByTime,
  }),
  responses: { 200: { description: 'One page of jobs.', schema: jobList } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { limit, offset } = query;
  const { total, jobs } = await deps.renders.list(caller, {
    ...(query.status === undefined ? {} : { states: statesOf(query.status) }),
    limit,
    offset,
    newestFirst: query.sort === 'created_desc',
  });
  const uploads = await uploadFieldsOf(jobs, deps);
  const records = jobs.map((job) => ({ ...jobRecord(job), ...uploads(job) }));
  return { status: 200, json: { total, limit, offset, jobs: records } };
});

const get = defineRoute('GET /v1/pdf/jobs/:id', {
  operationId: 'getJob',
  summary: 'Get the status record of a job',
  params,
  responses: { 200: { description: 'The record.', schema: jobRecordSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  const uploads = await uploadFieldsOf([job], deps);
  return { status: 200, json: { ...jobRecord(job), ...uploads(job) } };
});

const cancel = defineRoute('DELETE /v1/pdf/jobs/:id', {
  operationId: 'cancelJob',
  withoutRoom: 'confirmed',
  summary: 'Cancel a job',
  description: 'A running render is stopped.',
  params,
  responses: { 200: { description: 'The record of the cancelled job.', schema: jobRecordSchema } },
  errors: ['NOT_FOUND', 'JOB_ENDED'],
}).handledBy(cancelRequestedJob);

const file = defineRoute('GET /v1/pdf/jobs/:id/file', {
  operationId: 'downloadJobPdf',
  summary: 'Download the PDF of a job',
  params,
  responses: { 200: { description: 'The PDF.', contentType: PDF } },
  errors: ['NOT_FOUND', 'TOO_MANY_WAITING'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  return await withDownload(deps.downloads.pdfs, job.accountId, async () => {
    return { status: 200, body: await deliveredOutput(job, deps), headers: fileHeaders(job) } as const;
  });
});

const einvoice = defineRoute('GET /v1/pdf/jobs/:id/einvoice', {
  operationId: 'downloadJobEinvoice',
  summary: 'Download the XML of an e-invoice',
  description: 'The same bytes are in the PDF, as `factur-x.xml` or `xrechnung.xml`.',
  params,
  responses: { 200: { description: 'The XML.', contentType: XML } },
  errors: ['NOT_FOUND', 'TOO_MANY_WAITING'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  return await withDownload(deps.downloads.pdfs, job.accountId, async () => {
    const headers = fileHeaders({ fileName: `${job.fileName.replace(/\.pdf$/i, '')}.xml` });
    return { status: 200, body: await deps.renders.openEinvoice(job), headers } as const;
  });
});

const downloadAddress = defineRoute('GET /v1/pdf/jobs/:id/download-url', {
  operationId: 'getJobDownloadUrl',
  summary: 'Get a signed address of the PDF of a job',
  params,
  responses: { 200: { description: 'The address.', schema: downloadUrlSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async (request, deps: ApiDeps) => {
  const job = await requestedJob(request, deps);
  return { status: 200, json: { success: true, ...(await signedLink(job, deps)) } };
});

const report = reportRoute('/v1/pdf/jobs/:id/report', 'getJobReport', group);

export const jobRoutes = [list, get, cancel, file, einvoice, downloadAddress, report];
