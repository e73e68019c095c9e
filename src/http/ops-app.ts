import type { Express, Request, RequestHandler } from 'express';
import type { Admin } from '../admin/open-admin.ts';
import type { Operator } from '../config/operators.ts';
import { BodyIntake } from '../infra/overload/body-intake.ts';
import type { ChangeGate } from '../infra/overload/change-gate.ts';
import type { AdminDeps } from './admin/common.ts';
import type { OpsDeps } from './api-deps.ts';
import { frameApp } from './request/app-frame.ts';
import type { Route } from './request/route.ts';
import { operationRoutes, versionRoute } from './site/operations.ts';

/** The administration, in a process that serves it; others do not load its code. */
export interface ServedAdmin {
  readonly routes: readonly Route<AdminDeps>[];
  /** @throws PlatenError UNAUTHENTICATED; ORIGIN_NOT_ALLOWED. */
  readonly authenticate: (request: Request) => Promise<Operator>;
  /** Rejects and confirms changes. */
  readonly changes: ChangeGate;
  /** @throws PlatenError UNAVAILABLE while the process starts. */
  readonly admin: () => Admin;
}

/** Requests of operators are small, and few. */
const BODIES = { inAll: 4 * 1024 * 1024, perOwner: 1024 * 1024, leastRate: 1024, rateWindowMs: 5000 };

/**
 * An app with health, metrics and the version, and the administration where there is one; for a port that no caller reaches.
 *
 * @param pages what else the process sends there.
 */
export function createOpsApp(
  ops: Omit<OpsDeps, 'forOperators'>,
  served?: ServedAdmin,
  pages?: RequestHandler,
): Express {
  const none = async () => undefined;
  const deps = { ...ops, forOperators: true };
  const routes = [...operationRoutes, versionRoute];
  if (served === undefined) {
    return frameApp({ routes, deps, authenticators: { none }, trustedProxies: 0, ...(pages && { pages }) });
  }
  const { authenticate, changes, admin } = served;
  return frameApp({
    routes: [...routes, ...served.routes],
    deps: { ...deps, admin },
    authenticators: { none, operator: authenticate },
    changes,
    bodies: new BodyIntake(BODIES),
    trustedProxies: 0,
  });
}
