import { z } from 'zod';
import { RENDER_PHASES, type RenderPhase } from '../../render/report/phases.ts';
import { nameSchema } from '../../tenants/plans/plan.ts';
import { INTERVALS } from '../../tenants/usage/usage-series.ts';
import { page } from '../request/paging-schema.ts';

const count = z.int().min(0);

export const usageSummarySchema = z
  .strictObject({
    plan: nameSchema.describe('The name of the plan of the account.'),
    totalRequests: count.describe(
      'Requests for renders that have ended: rejected, or with a job that has ended.',
    ),
    successCount: count,
    failedCount: count,
    errorsByCategory: z.record(z.string(), count),
    remaining: count.describe('PDFs left of the quota of this month.'),
    requestsPerMinute: count,
    concurrentRenders: count,
    maxInputSizeBytes: count,
    maxOutputSizeBytes: count,
    maxTimeoutMs: count,
    resetDate: z.iso.date().describe('The day on which the quota begins anew.'),
    keyBreakdown: z
      .array(z.strictObject({ apiKeyId: z.uuid(), totalRequests: count, failedCount: count }))
      .optional()
      .describe('With `includeBreakdown=true`; the busiest key first.'),
  })
  .meta({ id: 'UsageSummary' });

const seriesPointSchema = z
  .strictObject({
    at: z.iso.datetime().describe('When the hour or day (UTC) began.'),
    total: count,
    success: count,
    failed: count,
    refused: count.describe('Of the failed ones, requests that were refused: they have no job.'),
    errorsByCategory: z.record(z.string(), count),
    errorsByCode: z.record(z.string(), count),
    refusedByCode: z.record(z.string(), count).describe('How many were refused, by code.'),
    pages: count.describe('Of the PDFs that were rendered.'),
    bytes: count.describe('Of the same.'),
    durations: z
      .array(count)
      .describe(
        'Durations of the renders: how many took up to each of `durationBoundsMs`, and last how many took longer.',
      ),
    phasesMs: z
      .strictObject(
        Object.fromEntries(RENDER_PHASES.map((phase) => [phase, count])) as Record<RenderPhase, typeof count>,
      )
      .describe('Total milliseconds of the renders in each phase.'),
  })
  .meta({ id: 'UsagePoint' });

export const usageSeriesSchema = z
  .strictObject({
    interval: z.enum(INTERVALS),
    durationBoundsMs: z.array(count).describe('Milliseconds, rising.'),
    points: z.array(seriesPointSchema).describe('Every hour or day of the period, the first one first.'),
    errors: z
      .array(
        z.strictObject({
          code: z.string(),
          count,
          refused: count.describe('Of these, requests that were refused.'),
          remedy: z.string().describe('What can be done about it.'),
          docsUrl: z.url().describe('Where the documentation says more of it.'),
        }),
      )
      .describe('What failed in the whole period, the most frequent first.'),
  })
  .meta({ id: 'UsageSeries' });

const requestLogEntrySchema = z
  .strictObject({
    id: z.uuid(),
    apiKeyId: z.uuid(),
    apiKeyPrefix: z.string(),
    endpoint: z.string().describe('Path of the route.'),
    ipAddress: z
      .string()
      .describe('Without its last octet (IPv4) or its last 80 bits (IPv6), unless the plan reveals it.'),
    status: z.enum(['success', 'error']),
    errorReason: z.string().nullable().describe("The error's code."),
    method: z
      .string()
      .nullable()
      .describe('Of HTTP. Null, as the next two, of an entry of an earlier version.'),
    statusCode: z.int().nullable().describe('Of the response.'),
    durationMs: count.nullable().describe('Milliseconds from the request to its response.'),
    jobId: z.uuid().nullable().describe('The job or batch that it got; null without one.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'RequestLogEntry' });

const keptBody = z
  .strictObject({
    type: z.string().nullable().describe('The media type.'),
    size: count.nullable().describe('Bytes; null if it is not known.'),
    text: z
      .string()
      .nullable()
      .describe('JSON of some 4 KiB, with long values cut and secrets as `***`; null if it is no JSON.'),
    isWhole: z.boolean().describe('Whether `text` has the whole body but for its secrets.'),
  })
  .meta({ id: 'LoggedBody' });

const side = z
  .strictObject({
    headers: z
      .array(z.strictObject({ name: z.string(), value: z.string().describe('Secrets are `***`.') }))
      .readonly()
      .describe('The first of them, 1 KiB; secrets are `***`.'),
    body: keptBody.nullable().describe('Null without one.'),
  })
  .meta({ id: 'LoggedSide' });

export const loggedRequestSchema = z
  .strictObject({
    ...requestLogEntrySchema.shape,
    said: z
      .strictObject({
        path: z.string().describe('With its query; secrets are `***`.'),
        request: side,
        response: side,
        keptUntil: z.iso.datetime().describe('When this is deleted.'),
      })
      .nullable()
      .describe('Null if it is not kept, or no longer.'),
  })
  .meta({ id: 'LoggedRequest' });

/** The body of `PUT /user/request-logs/details`. */
export const requestDetailsSettingSchema = z
  .strictObject({ kept: z.boolean().describe('Whether headers and bodies of requests are kept.') })
  .meta({ id: 'RequestDetailsSetting' });

export const requestLogListSchema = z
  .strictObject({
    ...page,
    detailsKept: z.boolean().describe('Whether headers and bodies of requests are kept.'),
    detailsKeptHours: count.describe('For how long, by the plan.'),
    endpointOptions: z.array(z.string()).describe('The endpoints that were asked for.'),
    summary: z.strictObject({ successCount: count, failedCount: count }),
    logs: z.array(requestLogEntrySchema),
    canRevealIp: z.boolean().describe('Whether the plan shows whole addresses.'),
  })
  .meta({ id: 'RequestLogList' });
