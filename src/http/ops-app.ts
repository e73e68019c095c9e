import type { Express } from 'express';
import type { OpsDeps } from './api-deps.ts';
import { frameApp } from './app-frame.ts';
import { operationRoutes } from './routes/operations.ts';

/** An app with health and metrics only, for roles without an API. */
export function createOpsApp(deps: OpsDeps): Express {
  return frameApp({
    routes: operationRoutes,
    deps,
    authenticators: { none: async () => undefined },
    trustedProxies: 0,
  });
}
