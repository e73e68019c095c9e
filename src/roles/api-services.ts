import { DisableLinks } from '../billing/blocks/disable-links.ts';
import { openBilling } from '../billing/open-billing.ts';
import { ensureIndexes } from '../infra/store/collection-spec.ts';
import { KeyStore } from '../tenants/keys/key-store.ts';
import { RateLimiter } from '../tenants/limits/rate-limiter.ts';
import { MailOutbox } from '../tenants/mail/outbox.ts';
import { TemplateStore } from '../tenants/templates/template-store.ts';
import { RequestLog } from '../tenants/usage/request-log.ts';
import { RequestRecorder } from '../tenants/usage/request-recorder.ts';
import { UsageReports } from '../tenants/usage/usage-reports.ts';
import { SigningKeyService } from '../work/callbacks/signing-key-service.ts';
import { SigningKeys } from '../work/callbacks/signing-keys.ts';
import { IdempotencyStore } from '../work/jobs/idempotency-store.ts';
import { createAccountServices } from './account-services.ts';
import type { Core } from './core.ts';
import type { Closers } from './process/component.ts';

/** The components that the API needs besides the core: authentication, rate limits, and records of usage. */
export type ApiServices = Awaited<ReturnType<typeof openApiServices>>;

/** `closers` closes what was opened. */
export async function openApiServices(core: Core, closers: Closers) {
  const { connection, clock, logger, counters, jobs } = core;
  const keys = new KeyStore(connection, clock);
  const accountServices = createAccountServices(connection, { ...core, keys }, core);
  const requestLog = new RequestLog(connection, logger);
  const services = {
    accountServices,
    billing: openBilling({
      ...core,
      ...jobs,
      ...accountServices,
      outbox: new MailOutbox(connection, clock),
      publicUrl: () => core.address.publicUrl ?? '',
    }),
    disableLinks: new DisableLinks(connection),
    signingKeys: new SigningKeyService({
      keys: new SigningKeys(connection, clock),
      accounts: core.accounts,
      audit: accountServices.audit,
    }),
    keys,
    templates: new TemplateStore(connection, clock),
    idempotency: new IdempotencyStore(connection, clock),
    limiter: new RateLimiter(connection, clock),
    recorder: new RequestRecorder(requestLog, counters, clock),
    usage: new UsageReports({
      quotaLeft: (accountId, period, quota) => jobs.blockLedger.left(accountId, period, quota),
      counters,
      requestLog,
      clock,
    }),
  };
  await ensureIndexes(connection, core.stopped);
  closers.add(() => requestLog.flush());
  closers.add(() => accountServices.recovery.flush());
  return services;
}
