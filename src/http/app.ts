import type { Express } from 'express';
import { type ApiDocument, createApiDocument } from './api-document.ts';
import type { ApiParts } from './api-parts.ts';
import { frameApp } from './app-frame.ts';
import { apiKeyAuthenticator } from './authenticate.ts';
import { bearerAuthenticator } from './authenticate-bearer.ts';
import { callerGuard } from './caller-guard.ts';
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
import { operationRoutes } from './routes/operations.ts';
import { paymentWebhookRoutes } from './routes/payment-webhook.ts';
import { publicAutoOverageRoutes } from './routes/public-auto-overage.ts';
import { renderRoutes } from './routes/renders.ts';
import { requestLogRoutes } from './routes/request-logs.ts';
import { templateVersionRoutes } from './routes/template-versions.ts';
import { templateRoutes } from './routes/templates.ts';
import { usageRoutes } from './routes/usage.ts';
import { webhookRoutes } from './routes/webhooks.ts';

/** Every route of the API, one entry per group. */
export const API_ROUTES: readonly Route<ApiParts & { readonly document: () => ApiDocument }>[] = [
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
  ...apiKeyRoutes,
  ...templateRoutes,
  ...templateVersionRoutes,
  ...auditLogRoutes,
  ...webhookRoutes,
  ...billingRoutes,
  ...invoiceRoutes,
  ...paymentWebhookRoutes,
  ...operationRoutes,
  ...publicAutoOverageRoutes,
  ...documentationRoutes,
];

/**
 * The HTTP side of the API and of standalone.
 *
 * @param withOperations false when health and metrics have a port of their own.
 */
export function createHttpApp(parts: ApiParts, withOperations = true): Express {
  const { config } = parts;
  const elsewhere = new Set<object>(withOperations ? [] : operationRoutes);
  const routes = API_ROUTES.filter((route) => !elsewhere.has(route));
  let document: ApiDocument | undefined;
  return frameApp({
    routes,
    parts: {
      ...parts,
      document() {
        document ??= createApiDocument(routes, { headerPrefix: config.PLATEN_HEADER_PREFIX });
        return document;
      },
    },
    authenticators: {
      apiKey: apiKeyAuthenticator(parts),
      bearer: bearerAuthenticator(parts),
      none: async () => undefined,
    },
    guard: callerGuard(parts),
    bodies: parts.bodies,
    answers: parts.answers,
    turns: parts.turns,
    trustedProxies: config.PLATEN_TRUSTED_PROXIES,
  });
}
