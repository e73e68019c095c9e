import type { Connection } from 'mongoose';
import { AccessTokenStore } from '../accounts/access-token-store.ts';
import { AccountService } from '../accounts/account-service.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import { BearerTokens } from '../accounts/bearer.ts';
import { FailureLimit } from '../accounts/failure-limit.ts';
import { InvitationStore } from '../accounts/invitation-store.ts';
import { OidcVerifier } from '../accounts/oidc-verifier.ts';
import { Registration } from '../accounts/registration.ts';
import { RegistrationLimit } from '../accounts/registration-limit.ts';
import { SignIn } from '../accounts/sign-in.ts';
import { AuditLog } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { KeyService } from '../keys/key-service.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { PlanSource } from '../plans/plan-source.ts';
import type { Logger } from '../telemetry/logger.ts';

export type AccountServicesConfig = Pick<
  Config,
  | 'PLATEN_OIDC_ISSUER'
  | 'PLATEN_OIDC_AUDIENCE'
  | 'PLATEN_REGISTRATION'
  | 'PLATEN_REGISTRATIONS_PER_ADDRESS'
  | 'PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT'
  | 'PLATEN_SIGN_IN_FAILURES_PER_ADDRESS'
>;

export type AccountServices = ReturnType<typeof createAccountServices>;

/** Who signs in and how, what is done to accounts and keys, and the record of it all. To be made before the connection's indexes are. */
export function createAccountServices(
  connection: Connection,
  parts: {
    accounts: AccountStore;
    keys: KeyStore;
    plans: PlanSource;
    clock: Clock;
    logger: Logger;
    config: AccountServicesConfig;
  },
) {
  const { accounts, keys, plans, clock, logger, config } = parts;
  const { PLATEN_OIDC_ISSUER: issuer, PLATEN_OIDC_AUDIENCE: audience } = config;
  const audit = new AuditLog(connection, clock, logger);
  const tokens = new AccessTokenStore(connection, clock);
  const failures = new FailureLimit(connection, clock, {
    perAccount: config.PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT,
    perNetwork: config.PLATEN_SIGN_IN_FAILURES_PER_ADDRESS,
  });
  const oidc =
    issuer === undefined || audience === undefined
      ? undefined
      : new OidcVerifier({ issuer, audience, clock });
  const accountService = new AccountService({ accounts, tokens, audit, plans });
  const invitations = new InvitationStore(connection, clock);
  const limit = new RegistrationLimit(connection, clock, config.PLATEN_REGISTRATIONS_PER_ADDRESS);
  const mode = config.PLATEN_REGISTRATION;
  const registration = new Registration({ accountService, invitations, limit, mode });
  return {
    audit,
    tokens,
    accountService,
    keyService: new KeyService({ keys, audit }),
    invitations,
    signIn: new SignIn({ accountService, accounts, tokens, failures, registration, audit }),
    bearer: new BearerTokens({ accountService, accounts, tokens, clock, oidc }),
    /** @returns how many ended tokens and invitations, past failures and counts, and old audit entries were deleted. */
    async deleteExpired(now: Date): Promise<number> {
      let deleted = await audit.deleteOld(now);
      for (const owner of [tokens, failures, invitations, limit]) deleted += await owner.deleteExpired(now);
      return deleted;
    },
  };
}
