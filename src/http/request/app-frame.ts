import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Logger } from '../../infra/telemetry/logger.ts';
import { rejectUnknownRoute, respondWithErrors } from './error-handler.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { registerRoutes } from './register-routes.ts';
import { trackRequests } from './request-context.ts';
import type { Route } from './route.ts';
import type { StageDeps } from './stages.ts';

/** An app with these routes and what every app has: request tracking, security headers, error responses. */
export function frameApp<Deps extends { readonly logger: Logger; readonly metrics: HttpMetrics }>({
  routes,
  trustedProxies,
  publicUrl,
  pages,
  ...stages
}: Omit<StageDeps<Deps>, 'observeAdmission' | 'logger'> & {
  readonly routes: readonly Route<Deps>[];
  /** How many proxies in front of the service may name the client in X-Forwarded-For. */
  readonly trustedProxies: number;
  /** The public address of the service and its documentation; absent in a process that serves no documentation. */
  readonly publicUrl?: () => string;
  readonly pages?: RequestHandler;
}): Express {
  const { logger, metrics } = stages.deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustedProxies);
  app.enable('case sensitive routing');
  app.use(trackRequests(stages.deps));
  app.use(securityHeaders());
  registerRoutes(app, routes, {
    ...stages,
    observeAdmission: (step, seconds) => metrics.admissionDuration.observe({ step }, seconds),
    logger,
  });
  if (pages !== undefined) app.use(pages);
  app.use(rejectUnknownRoute);
  app.use(respondWithErrors(logger, publicUrl));
  return app;
}

/** Responses are data: nothing in them may run or be framed. Pages set a policy of their own. */
function securityHeaders() {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    xFrameOptions: { action: 'deny' },
  });
}
