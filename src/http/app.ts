import type { Express } from 'express';
import type { ApiDeps } from './api-deps.ts';
import { type ApiDocument, createApiDocument } from './api-document.ts';
import { frameApp } from './app-frame.ts';
import { apiKeyAuthenticator, ownerCheck } from './authenticate.ts';
import { bearerAuthenticator } from './authenticate-bearer.ts';
import { CallerLimits } from './caller-limits.ts';
import { serveDashboard } from './dashboard.ts';
import type { Route } from './route.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { auditLogRoutes } from './routes/audit-log.ts';
import { authRoutes } from './routes/auth.ts';
import { batchEventRoutes } from './routes/batch-events.ts';
import { batchFileRoutes } from './routes/batch-files.ts';
import { batchItemRoutes } from './routes/batch-items.ts';
import { batchMetricsRoutes } from './routes/batch-metrics.ts';
import { batchRoutes } from './routes/batches.ts';
import { billingRoutes } from './routes/billing.ts';
import { documentationRoutes } from './routes/documentation.ts';
import { fileRoutes } from './routes/files.ts';
import { invoiceRoutes } from './routes/invoices.ts';
import { jobRoutes } from './routes/jobs.ts';
import { oidcRoutes } from './routes/oidc.ts';
import { operationRoutes, versionRoute } from './routes/operations.ts';
import { passwordRoutes } from './routes/passwords.ts';
import { paymentWebhookRoutes } from './routes/payment-webhook.ts';
import { planRoutes } from './routes/plans.ts';
import { publicAutoOverageRoutes } from './routes/public-auto-overage.ts';
import { renderRoutes } from './routes/renders.ts';
import { requestLogRoutes } from './routes/request-logs.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { templateVersionRoutes } from './routes/template-versions.ts';
import { templateRoutes } from './routes/templates.ts';
import { usageRoutes } from './routes/usage.ts';
import { userBatchRoutes } from './routes/user-batches.ts';
import { userEventRoutes } from './routes/user-events.ts';
import { userRenderRoutes } from './routes/user-renders.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { requireSameOrigin } from './same-origin.ts';

/** Every route of the API, one entry per group. */
export const API_ROUTES: readonly Route<ApiDeps & { readonly document: () => ApiDocument }>[] = [
  ...renderRoutes,
  ...jobRoutes,
  ...batchRoutes,
  ...batchEventRoutes,
  ...batchFileRoutes,
  ...batchItemRoutes,
  ...fileRoutes,
  ...usageRoutes,
  ...batchMetricsRoutes,
  ...requestLogRoutes,
  ...authRoutes,
  ...sessionRoutes,
  ...oidcRoutes,
  ...passwordRoutes,
  ...apiKeyRoutes,
  ...templateRoutes,
  ...templateVersionRoutes,
  ...auditLogRoutes,
  ...userRenderRoutes,
  ...userEventRoutes,
  ...userBatchRoutes,
  ...webhookRoutes,
  ...planRoutes,
  ...billingRoutes,
  ...invoiceRoutes,
  ...paymentWebhookRoutes,
  ...operationRoutes,
  versionRoute,
  ...publicAutoOverageRoutes,
  ...documentationRoutes,
];

/**
 * The HTTP app of the API and of standalone.
 *
 * @param withOperations false when health and metrics have a port of their own.
 */
export function createHttpApp(deps: Omit<ApiDeps, 'forOperators'>, withOperations = true): Express {
  const { config } = deps;
  const elsewhere = new Set<object>(withOperations ? [] : operationRoutes);
  const routes = API_ROUTES.filter((route) => !elsewhere.has(route));
  let document: ApiDocument | undefined;
  return frameApp({
    routes,
    deps: {
      ...deps,
      forOperators: withOperations,
      document() {
        document ??= createApiDocument(routes, { headerPrefix: config.PLATEN_HEADER_PREFIX });
        return document;
      },
    },
    authenticators: {
      apiKey: apiKeyAuthenticator(deps),
      bearer: bearerAuthenticator(deps),
      page: async (request) => {
        requireSameOrigin(request, deps.publicUrl());
        return undefined;
      },
      none: async () => undefined,
    },
    requireOwner: ownerCheck(deps),
    limits: new CallerLimits(deps),
    changes: deps.changes,
    bodies: deps.bodies,
    unread: deps.unread,
    admissionQueue: deps.admissionQueue,
    tracing: deps.tracing,
    trustedProxies: config.PLATEN_TRUSTED_PROXIES,
    publicUrl: deps.publicUrl,
    pages: serveDashboard(),
  });
}
