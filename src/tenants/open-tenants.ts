import type { Core } from '../infra/core.ts';
import { AccessTokenStore } from './accounts/access-token-store.ts';
import { AccountLinks } from './accounts/account-links.ts';
import { AccountRecovery } from './accounts/account-recovery.ts';
import { AccountService } from './accounts/account-service.ts';
import type { AccountStore } from './accounts/account-store.ts';
import { AccountTakeover, type TakeoverStep } from './accounts/account-takeover.ts';
import { BearerTokens } from './accounts/bearer.ts';
import { DeletionStore } from './accounts/deletion-store.ts';
import { FailureLimit } from './accounts/failure-limit.ts';
import { InvitationStore } from './accounts/invitation-store.ts';
import { MailLimit } from './accounts/mail-limit.ts';
import { OidcIssuer } from './accounts/oidc-issuer.ts';
import { OidcSignIn } from './accounts/oidc-sign-in.ts';
import { OidcVerifier } from './accounts/oidc-verifier.ts';
import { Registration, type RegistrationMode } from './accounts/registration.ts';
import { RegistrationLimit } from './accounts/registration-limit.ts';
import { SignIn } from './accounts/sign-in.ts';
import { TakeoverStore } from './accounts/takeover-store.ts';
import { AuditLog } from './audit/audit-log.ts';
import { KeyService } from './keys/key-service.ts';
import { KeyStore } from './keys/key-store.ts';
import { RateLimiter } from './limits/rate-limiter.ts';
import { MailOutbox } from './mail/outbox.ts';
import type { PlanSource } from './plans/plan-source.ts';
import { type TemplateBounds, TemplateStore } from './templates/template-store.ts';

/** What an operator has set of sign-in and registration. */
export interface TenantsConfig {
  readonly PLATEN_OIDC_ISSUER?: string | undefined;
  readonly PLATEN_OIDC_AUDIENCE?: string | undefined;
  readonly PLATEN_OIDC_CLIENT_ID?: string | undefined;
  readonly PLATEN_OIDC_CLIENT_SECRET?: string | undefined;
  readonly PLATEN_REGISTRATION: RegistrationMode;
  readonly PLATEN_REGISTRATIONS_PER_ADDRESS: number;
  readonly PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT: number;
  readonly PLATEN_SIGN_IN_FAILURES_PER_ADDRESS: number;
}

interface TenantsCore extends Pick<Core, 'connection' | 'clock' | 'logger'> {
  readonly config: TenantsConfig;
  readonly plans: PlanSource;
  readonly accounts: AccountStore;
  /** Default: those of production. */
  readonly templateBounds?: TemplateBounds | undefined;
}

export type Tenants = ReturnType<typeof openTenants>;
/** What a takeover ends or counts of the tenants' own. */
export type TakenOver = { readonly keyService: KeyService; readonly templates: TemplateStore };

/**
 * Accounts with sign-in, keys, audit log and mails, their templates and rates. To be opened once a process, before the
 * connection's indexes are created.
 *
 * @param stepsOf what carries takeovers out; without it, this process only begins them.
 */
export function openTenants(core: TenantsCore, stepsOf?: (opened: TakenOver) => readonly TakeoverStep[]) {
  const { connection, clock, logger, config, plans, accounts } = core;
  const { PLATEN_OIDC_AUDIENCE: audience, PLATEN_OIDC_CLIENT_ID: clientId } = config;
  const issuer =
    config.PLATEN_OIDC_ISSUER === undefined
      ? undefined
      : new OidcIssuer({ issuer: config.PLATEN_OIDC_ISSUER, clock });
  const audit = new AuditLog(connection, clock, logger);
  const outbox = new MailOutbox(connection, clock);
  const keys = new KeyStore(connection, clock);
  const keyService = new KeyService({ keys, accounts, audit });
  const templates = new TemplateStore(connection, clock, core.templateBounds);
  const tokens = new AccessTokenStore(connection, clock);
  const failures = new FailureLimit(connection, clock, {
    perAccount: config.PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT,
    perNetwork: config.PLATEN_SIGN_IN_FAILURES_PER_ADDRESS,
  });
  const oidc =
    issuer === undefined || audience === undefined
      ? undefined
      : new OidcVerifier({ issuer, audience, clientId, clock });
  const accountService = new AccountService({ accounts, tokens, audit, plans });
  const oidcSignIn =
    issuer === undefined || clientId === undefined
      ? undefined
      : new OidcSignIn({
          issuer,
          clock,
          clientId,
          clientSecret: config.PLATEN_OIDC_CLIENT_SECRET,
          accountService,
          tokens,
          audit,
        });
  const invitations = new InvitationStore(connection, clock);
  const limit = new RegistrationLimit(connection, clock, config.PLATEN_REGISTRATIONS_PER_ADDRESS);
  const links = new AccountLinks(connection, clock);
  const takeover = new AccountTakeover({
    accounts,
    accountService,
    takeovers: new TakeoverStore(connection, clock),
    steps: stepsOf?.({ keyService, templates }) ?? [],
    outbox,
    audit,
    clock,
    logger,
  });
  const recovery = new AccountRecovery({
    accounts,
    accountService,
    takeover,
    countKeys: (accountId) => keys.countActive(accountId),
    links,
    limit: new MailLimit(connection, clock),
    outbox,
    logger,
  });
  const mode = config.PLATEN_REGISTRATION;
  const registration = new Registration({ accountService, invitations, limit, mode });
  return {
    accounts,
    audit,
    outbox,
    keys,
    keyService,
    templates,
    tokens,
    accountService,
    takeover,
    invitations,
    recovery,
    limiter: new RateLimiter(connection, clock),
    deletions: new DeletionStore(connection, clock),
    signIn: new SignIn({ accountService, accounts, tokens, failures, registration, links, audit }),
    oidcSignIn,
    bearer: new BearerTokens({ accountService, accounts, tokens, clock, oidc }),
    /** @returns how many expired tokens and invitations, failures and counts, and old audit entries were deleted. */
    async deleteExpired(now: Date): Promise<number> {
      let deleted = await audit.deleteOld(now);
      for (const owner of [tokens, failures, invitations, limit, recovery])
        deleted += await owner.deleteExpired(now);
      return deleted;
    },
  };
}
