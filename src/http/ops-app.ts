import type { Express } from 'express';
import type { OpsParts } from './api-parts.ts';
import { frameApp } from './app-frame.ts';
import { operationRoutes } from './routes/operations.ts';

/** Only health and metrics: for roles that answer no callers. */
export function createOpsApp(parts: OpsParts): Express {
  return frameApp({
    routes: operationRoutes,
    parts,
    authenticators: { none: async () => undefined },
    trustedProxies: 0,
  });
}
