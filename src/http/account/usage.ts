import { z } from 'zod';
import type { ErrorCode } from '../../infra/errors/registry.ts';
import { docsUrlOf, REMEDIES } from '../../infra/errors/remedies.ts';
import { periodDays } from '../../tenants/usage/periods.ts';
import { addCounts } from '../../tenants/usage/tallies.ts';
import { DURATION_BOUNDS_MS, INTERVALS, type SeriesPoint } from '../../tenants/usage/usage-series.ts';
import type { ApiDeps } from '../api-deps.ts';
import { queryBoolean } from '../request/paging-schema.ts';
import { periodParameter } from '../request/period-parameter.ts';
import { routesOf } from '../request/route.ts';
import { usageSeriesSchema, usageSummarySchema } from './usage-schema.ts';

const defineRoute = routesOf({ tags: ['Telemetry'], auth: 'bearer' });

const usage = defineRoute('GET /user/usage', {
  right: 'look',
  operationId: 'getUsage',
  summary: 'Get the usage summary of the account',
  query: z.strictObject({
    period: periodParameter,
    includeBreakdown: queryBoolean(false).describe('`true` adds the usage of each API key.'),
  }),
  responses: { 200: { description: 'The summary.', schema: usageSummarySchema } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  return { status: 200, json: await deps.usage.summary(caller, query.period, query.includeBreakdown) };
});

const series = defineRoute('GET /user/usage/series', {
  right: 'look',
  operationId: 'getUsageSeries',
  summary: 'Get the usage of the account over time',
  query: z
    .strictObject({
      period: periodParameter,
      interval: z.enum(INTERVALS).default('day').describe('`hour` is allowed for periods of up to 7 days.'),
      apiKeyId: z.uuid().toLowerCase().optional().describe('Only requests with this key.'),
    })
    .refine(({ period, interval }) => interval === 'day' || periodDays(period) <= 7, {
      error: 'must be day with a period of more than 7 days',
      path: ['interval'],
    }),
  responses: { 200: { description: 'The series.', schema: usageSeriesSchema } },
}).handledBy(async ({ query, caller }, { usage, publicUrl }: ApiDeps) => {
  const points = await usage.series(caller, query);
  return {
    status: 200,
    json: {
      interval: query.interval,
      durationBoundsMs: [...DURATION_BOUNDS_MS],
      points: points.map(({ at, ...counts }) => ({ at: at.toISOString(), ...counts })),
      errors: errorsIn(points).map(([code, count]) => ({
        code,
        count,
        refused: points.reduce((sum, { refusedByCode }) => sum + (refusedByCode[code] ?? 0), 0),
        remedy: REMEDIES[code],
        docsUrl: docsUrlOf(code, publicUrl()),
      })),
    },
  };
});

/** The errors of all points, the most frequent first. */
function errorsIn(points: readonly SeriesPoint[]): [code: ErrorCode, count: number][] {
  const counts: Record<string, number> = {};
  for (const { errorsByCode } of points) addCounts(counts, errorsByCode);
  const known = (Object.entries(counts) as [ErrorCode, number][]).filter(([code]) => code in REMEDIES);
  return known.sort(([, a], [, b]) => b - a);
}

export const usageRoutes = [usage, series];
