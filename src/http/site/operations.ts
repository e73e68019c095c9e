import { z } from 'zod';
import { BUILD } from '../../infra/version.ts';
import type { OpsDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';

const defineRoute = routesOf({ tags: ['Operation'], auth: 'none' });
const live = z.strictObject({ live: z.boolean(), problem: z.string().optional() });
const browser = z
  .strictObject({
    version: z.string(),
    sandbox: z
      .enum(['on', 'off', 'unknown'])
      .describe("Whether its renderers were found in Chromium's sandbox."),
    reason: z.string().optional().describe('Why it was started without.'),
  })
  .describe('Of a process that renders: its browser.');
const build = z.strictObject({
  version: z.string().describe('Of Platen.'),
  commit: z.string().optional().describe('The Git commit that it was built from; `unknown` without one.'),
  node: z.string().optional().describe('The version of Node.'),
  browser: z.string().optional().describe('Of a process that renders: the version of its browser.'),
});
const ready = z.strictObject({
  ready: z.boolean(),
  problems: z.array(z.string()),
  lacks: z
    .array(z.string())
    .optional()
    .describe('What is missing at present, without which the process can work for a while.'),
  browser: browser.optional(),
});

const health = defineRoute('GET /healthz', {
  operationId: 'getHealth',
  summary: 'Whether the process makes progress',
  logLevel: 'debug',
  responses: {
    200: { description: 'It does.', schema: live },
    503: { description: 'It is stuck and should be started again.', schema: live },
  },
}).handledBy((_request, deps: OpsDeps) => {
  const state = deps.liveness();
  return state.live ? { status: 200, json: state } : { status: 503, json: state };
});

const readiness = defineRoute('GET /readyz', {
  operationId: 'getReadiness',
  summary: 'Whether the process can take work',
  logLevel: 'debug',
  responses: {
    200: { description: 'It can.', schema: ready },
    503: { description: 'It cannot; `problems` names what is missing.', schema: ready },
  },
}).handledBy(async (_request, deps: OpsDeps) => {
  const state = await deps.readiness();
  return state.ready ? { status: 200, json: state } : { status: 503, json: state };
});

const metrics = defineRoute('GET /metrics', {
  operationId: 'getMetrics',
  summary: 'Measurements in the Prometheus text format',
  description: 'In the OpenMetrics format if traces are recorded and the caller accepts it.',
  logLevel: 'debug',
  responses: {
    200: { description: 'The measurements.', contentType: 'text/plain; version=0.0.4; charset=utf-8' },
  },
}).handledBy(async ({ accept }, { metrics: { registry, openMetrics } }: OpsDeps) => {
  if (openMetrics === undefined || !accept?.includes('application/openmetrics-text')) {
    return { status: 200, body: await registry.metrics() };
  }
  const { text, contentType } = await openMetrics();
  return { status: 200, body: text, headers: { 'Content-Type': contentType } };
});

/**
 * The only one of these that the port of the tenants has as well, with the version alone: whoever calls the API may want
 * to know which it is. The commit, and the versions of the browser and of Node, say which known advisories a process has,
 * so they are for operators.
 */
export const versionRoute = defineRoute('GET /version', {
  operationId: 'getVersion',
  summary: 'Which version runs here',
  description: 'All fields except `version` are only on the port of operations.',
  logLevel: 'debug',
  responses: { 200: { description: 'The version.', schema: build } },
}).handledBy((_request, deps: OpsDeps) => {
  const { version, ...more } = BUILD;
  const browserVersion = deps.browserVersion?.();
  return {
    status: 200,
    json: deps.forOperators
      ? { version, ...more, ...(browserVersion !== undefined && { browser: browserVersion }) }
      : { version },
  };
});

/** Those of the port of operations, besides the version. */
export const operationRoutes = [health, readiness, metrics];
