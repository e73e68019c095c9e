import type { Express } from 'express';
import { accountSwitchRoutes } from './account/account-switch.ts';
import { apiKeyRoutes } from './account/api-keys.ts';
import { auditLogRoutes } from './account/audit-log.ts';
import { authRoutes } from './account/auth.ts';
import { domainRoutes } from './account/domains.ts';
import { invitationRoutes } from './account/invitations.ts';
import { memberRoutes } from './account/members.ts';
import { notificationRoutes } from './account/notifications.ts';
import { oidcRoutes } from './account/oidc.ts';
import { passkeyRoutes } from './account/passkeys.ts';
import { passwordRoutes } from './account/passwords.ts';
import { planRoutes } from './account/plans.ts';
import { requestLogRoutes } from './account/request-logs.ts';
import { secondFactorRoutes } from './account/second-factor.ts';
import { sessionRoutes } from './account/sessions.ts';
import { templateDraftRoutes } from './account/template-drafts.ts';
import { templateVersionRoutes } from './account/template-versions.ts';
import { templateRoutes } from './account/templates.ts';
import { unsubscribeRoutes } from './account/unsubscribe.ts';
import { usageRoutes } from './account/usage.ts';
import { webhookRoutes } from './account/webhooks.ts';
import type { ApiDeps } from './api-deps.ts';
import { billRoutes } from './billing/bill.ts';
import { billingRoutes } from './billing/billing.ts';
import { invoiceRoutes } from './billing/invoices.ts';
import { paymentWebhookRoutes } from './billing/payment-webhook.ts';
import { publicAutoOverageRoutes } from './billing/public-auto-overage.ts';
import { frameApp } from './request/app-frame.ts';
import { apiKeyAuthenticator, ownerCheck } from './request/authenticate.ts';
import { bearerAuthenticator } from './request/authenticate-bearer.ts';
import { CallerLimits } from './request/caller-limits.ts';
import type { Route } from './request/route.ts';
import { requireSameOrigin } from './request/same-origin.ts';
import { type ApiDocument, createApiDocument } from './site/api-document.ts';
import { clientRoutes } from './site/clients.ts';
import { serveDashboard } from './site/dashboard.ts';
import { documentationRoutes } from './site/documentation.ts';
import { operationRoutes, versionRoute } from './site/operations.ts';
import { batchEventRoutes } from './work/batch-events.ts';
import { batchFileRoutes } from './work/batch-files.ts';
import { batchItemRoutes } from './work/batch-items.ts';
import { batchMetricsRoutes } from './work/batch-metrics.ts';
import { batchSourceRoutes, userBatchSourceRoutes } from './work/batch-sources.ts';
import { batchRoutes } from './work/batches.ts';
import { conversionRoutes } from './work/conversions.ts';
import { fileRoutes } from './work/files.ts';
import { formRoutes } from './work/forms.ts';
import { jobRoutes } from './work/jobs.ts';
import { renderRoutes } from './work/renders.ts';
import { shareRoutes } from './work/share-render.ts';
import { userBatchRoutes } from './work/user-batches.ts';
import { userEventRoutes } from './work/user-events.ts';
import { userRenderRoutes } from './work/user-renders.ts';
import { validationRoutes } from './work/validations.ts';

/** Every route of the API, one entry per group. */
export const API_ROUTES: readonly Route<ApiDeps & { readonly document: () => ApiDocument }>[] = [
  ...renderRoutes,
  ...conversionRoutes,
  ...formRoutes,
  ...validationRoutes,
  ...jobRoutes,
  ...batchSourceRoutes,
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
  ...accountSwitchRoutes,
  ...invitationRoutes,
  ...secondFactorRoutes,
  ...passkeyRoutes,
  ...memberRoutes,
  ...domainRoutes,
  ...oidcRoutes,
  ...passwordRoutes,
  ...apiKeyRoutes,
  ...templateRoutes,
  ...templateDraftRoutes,
  ...templateVersionRoutes,
  ...auditLogRoutes,
  ...userRenderRoutes,
  ...shareRoutes,
  ...userEventRoutes,
  ...userBatchSourceRoutes,
  ...userBatchRoutes,
  ...webhookRoutes,
  ...notificationRoutes,
  ...unsubscribeRoutes,
  ...planRoutes,
  ...billingRoutes,
  ...billRoutes,
  ...invoiceRoutes,
  ...paymentWebhookRoutes,
  ...operationRoutes,
  versionRoute,
  ...publicAutoOverageRoutes,
  ...clientRoutes,
  ...documentationRoutes,
];

/** The app of the API and of standalone. @param withOperations false when health and metrics have another port. */
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
