import { z } from 'zod';
import type { ApiDeps } from '../api-deps.ts';
import { periodParameter } from '../request/period-parameter.ts';
import { routesOf } from '../request/route.ts';
import { batchMetricsSchema } from './batch-metrics-schema.ts';

const defineRoute = routesOf({ tags: ['Telemetry'], auth: 'bearer' });

const metrics = defineRoute('GET /user/batches/metrics', {
  right: 'look',
  operationId: 'getBatchMetrics',
  summary: 'Get the metrics of the batches of the account',
  query: z.strictObject({ period: periodParameter }),
  responses: { 200: { description: 'The metrics.', schema: batchMetricsSchema } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  return { status: 200, json: await deps.batchMetrics.report(caller.accountId, query.period) };
});

export const batchMetricsRoutes = [metrics];
