import type { Connection } from 'mongoose';
import type { Config } from '../config/config.ts';
import type { Clock } from '../infra/clock.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import { AccessTokenStore } from '../tenants/accounts/access-token-store.ts';
import { AccountLinks } from '../tenants/accounts/account-links.ts';
import { AccountRecovery } from '../tenants/accounts/account-recovery.ts';
import { AccountService } from '../tenants/accounts/account-service.ts';
import type { AccountStore } from '../tenants/accounts/account-store.ts';
import { AccountTakeover } from '../tenants/accounts/account-takeover.ts';
import { BearerTokens } from '../tenants/accounts/bearer.ts';
import { FailureLimit } from '../tenants/accounts/failure-limit.ts';
import { InvitationStore } from '../tenants/accounts/invitation-store.ts';
import { MailLimit } from '../tenants/accounts/mail-limit.ts';
import { OidcIssuer } from '../tenants/accounts/oidc-issuer.ts';
import { OidcSignIn } from '../tenants/accounts/oidc-sign-in.ts';
import { OidcVerifier } from '../tenants/accounts/oidc-verifier.ts';
import { Registration } from '../tenants/accounts/registration.ts';
import { RegistrationLimit } from '../tenants/accounts/registration-limit.ts';
import { SignIn } from '../tenants/accounts/sign-in.ts';
import { TakeoverStore } from '../tenants/accounts/takeover-store.ts';
import { AuditLog } from '../tenants/audit/audit-log.ts';
import { KeyService } from '../tenants/keys/key-service.ts';
import type { KeyStore } from '../tenants/keys/key-store.ts';
import { MailOutbox } from '../tenants/mail/outbox.ts';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import type { JobLife } from './job-life.ts';
import { takeoverSteps } from './takeover-steps.ts';

export type AccountServicesConfig = Pick<
  Config,
  | 'PLATEN_OIDC_ISSUER'
  | 'PLATEN_OIDC_AUDIENCE'
  | 'PLATEN_OIDC_CLIENT_ID'
  | 'PLATEN_OIDC_CLIENT_SECRET'
  | 'PLATEN_REGISTRATION'
  | 'PLATEN_REGISTRATIONS_PER_ADDRESS'
  | 'PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT'
  | 'PLATEN_SIGN_IN_FAILURES_PER_ADDRESS'
>;

export type AccountServices = ReturnType<typeof createAccountServices>;

/**
 * The services for sign-in, accounts, keys and the audit log. To be created before the connection's indexes.
 *
 * @param work of accounts, for a process that carries takeovers out; without it, this process only begins them.
 */
export function createAccountServices(
  connection: Connection,
  deps: {
    accounts: AccountStore;
    keys: KeyStore;
    plans: PlanSource;
    clock: Clock;
    logger: Logger;
    config: AccountServicesConfig;
  },
  work?: JobLife,
) {
  const { accounts, keys, plans, clock, logger, config } = deps;
  const { PLATEN_OIDC_AUDIENCE: audience, PLATEN_OIDC_CLIENT_ID: clientId } = config;
  const issuer =
    config.PLATEN_OIDC_ISSUER === undefined
      ? undefined
      : new OidcIssuer({ issuer: config.PLATEN_OIDC_ISSUER, clock });
  const audit = new AuditLog(connection, clock, logger);
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
  const outbox = new MailOutbox(connection, clock);
  const keyService = new KeyService({ keys, accounts, audit });
  const takeover = new AccountTakeover({
    accounts,
    accountService,
    takeovers: new TakeoverStore(connection, clock),
    steps: work === undefined ? [] : takeoverSteps({ ...work, connection, clock, keyService }),
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
    audit,
    tokens,
    accountService,
    keyService,
    takeover,
    invitations,
    recovery,
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
