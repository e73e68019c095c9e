import type { Express } from 'express';
import type { OpsDeps } from './api-deps.ts';
import { frameApp } from './app-frame.ts';
import { operationRoutes, versionRoute } from './routes/operations.ts';

/** An app with health, metrics and the version only, for roles without an API. */
export function createOpsApp(deps: Omit<OpsDeps, 'forOperators'>): Express {
  return frameApp({
    routes: [...operationRoutes, versionRoute],
    deps: { ...deps, forOperators: true },
    authenticators: { none: async () => undefined },
    trustedProxies: 0,
  });
}
