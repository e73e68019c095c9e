import { json } from 'node:stream/consumers';
import { z } from 'zod';
import type { Job } from '../../work/jobs/job.ts';
import { statusOf } from '../../work/jobs/job-record.ts';
import { type ReportBody, reportWithoutFindings } from '../../work/jobs/stored-report.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import { renderReportSchema } from './render-report-schema.ts';
import { requestedJob } from './requested-work.ts';
import { attemptBodies } from './user-render.ts';

/** The route of a group that responds with the report of a render. */
export function reportRoute(
  path: string,
  operationId: string,
  group: Parameters<typeof routesOf<'apiKey' | 'bearer'>>[0],
) {
  return routesOf(group)(`GET ${path}`, {
    operationId,
    summary: 'Get the report of a render',
    description:
      'The requests of the document with their outcomes, the console, exceptions, fonts, characters without a font, waits, and warnings in plain words. If the render was lost with its worker, the report has only the attempts. A render that was requested with `report` has a report from its end on, for as long as its job is kept.',
    params: z.strictObject({ id: z.uuid().toLowerCase() }),
    needsPermit: true,
    largeResponse: true,
    responses: { 200: { description: 'The report.', schema: renderReportSchema } },
    errors: ['NOT_FOUND'],
  }).handledBy(async (request, deps: ApiDeps) => {
    return { status: 200, json: await renderReport(await requestedJob(request, deps), deps) };
  });
}

/**
 * The report of a job, with the attempts from its record; only the attempts when no report was stored.
 *
 * @throws PlatenError NOT_FOUND when no report was requested, or the job has not ended.
 */
async function renderReport(
  job: Job,
  { renders }: Pick<ApiDeps, 'renders'>,
): Promise<z.output<typeof renderReportSchema>> {
  const stored = await renders.openReport(job);
  // A worker has written it, from lists whose texts it has shortened.
  const body =
    stored === undefined ? reportWithoutFindings(job) : ((await json(stored.stream)) as ReportBody);
  // A report of an earlier version has no faults and no seal.
  const { fonts, missingGlyphs, observations, accessibility = [], seal = null, ...rest } = body;
  return {
    success: true,
    jobId: job._id,
    status: statusOf(job),
    attempts: attemptBodies(job),
    ...rest,
    missingGlyphs: [...missingGlyphs],
    observations: [...observations],
    accessibility: [...accessibility],
    seal,
    fonts: fonts.map(({ asked, used }) => ({ asked: [...asked], used: [...used] })),
  };
}
