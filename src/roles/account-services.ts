import type { Connection } from 'mongoose';
import { AccessTokenStore } from '../accounts/access-token-store.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import { BearerTokens } from '../accounts/bearer.ts';
import { FailureLimit } from '../accounts/failure-limit.ts';
import { OidcVerifier } from '../accounts/oidc-verifier.ts';
import { SignIn } from '../accounts/sign-in.ts';
import { AuditLog } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../telemetry/logger.ts';

export type AccountServicesConfig = Pick<
  Config,
  | 'PLATEN_OIDC_ISSUER'
  | 'PLATEN_OIDC_AUDIENCE'
  | 'PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT'
  | 'PLATEN_SIGN_IN_FAILURES_PER_ADDRESS'
>;

export type AccountServices = ReturnType<typeof createAccountServices>;

/** Who signs in and how, and the record of it. To be made before the connection's indexes are. */
export function createAccountServices(
  connection: Connection,
  parts: { accounts: AccountStore; clock: Clock; logger: Logger; config: AccountServicesConfig },
) {
  const { accounts, clock, logger, config } = parts;
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
  return {
    audit,
    tokens,
    signIn: new SignIn({ accounts, tokens, failures, audit }),
    bearer: new BearerTokens({ accounts, tokens, audit, clock, oidc }),
    /** @returns how many ended tokens, past failures and old audit entries were deleted. */
    async deleteExpired(now: Date): Promise<number> {
      return (
        (await tokens.deleteExpired(now)) + (await failures.deleteExpired(now)) + (await audit.deleteOld(now))
      );
    },
  };
}
