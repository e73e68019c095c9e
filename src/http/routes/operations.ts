import { z } from 'zod';
import type { OpsDeps } from '../api-deps.ts';
import { defineRoute } from '../route.ts';

const tags = ['Operation'];
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
const ready = z.strictObject({
  ready: z.boolean(),
  problems: z.array(z.string()),
  lacks: z
    .array(z.string())
    .optional()
    .describe('What it can do without for a while, and has not at present.'),
  browser: browser.optional(),
});

const health = defineRoute({
  method: 'get',
  path: '/healthz',
  summary: 'Whether the process makes progress',
  tags,
  auth: 'none',
  logLevel: 'debug',
  responses: {
    200: { description: 'It does.', schema: live },
    503: { description: 'It is stuck and should be started again.', schema: live },
  },
}).handledBy((_request, deps: OpsDeps) => {
  const state = deps.liveness();
  return state.live ? { status: 200, json: state } : { status: 503, json: state };
});

const readiness = defineRoute({
  method: 'get',
  path: '/readyz',
  summary: 'Whether the process can take work',
  tags,
  auth: 'none',
  logLevel: 'debug',
  responses: {
    200: { description: 'It can.', schema: ready },
    503: { description: 'It cannot; `problems` names what is missing.', schema: ready },
  },
}).handledBy(async (_request, deps: OpsDeps) => {
  const state = await deps.readiness();
  return state.ready ? { status: 200, json: state } : { status: 503, json: state };
});

const metrics = defineRoute({
  method: 'get',
  path: '/metrics',
  summary: 'Measurements in the Prometheus text format',
  tags,
  auth: 'none',
  logLevel: 'debug',
  responses: {
    200: { description: 'The measurements.', contentType: 'text/plain; version=0.0.4; charset=utf-8' },
  },
}).handledBy(async (_request, deps: OpsDeps) => {
  return { status: 200, body: await deps.metrics.registry.metrics() };
});

export const operationRoutes = [health, readiness, metrics];
