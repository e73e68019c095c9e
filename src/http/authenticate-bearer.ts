import type { Request } from 'express';
import type { BearerTokens, Session } from '../accounts/bearer.ts';
import { PlatenError } from '../errors/registry.ts';
import type { Plan, PlanName } from '../plans/plan.ts';
import type { PlanSource } from '../plans/plan-source.ts';
import type { QuotaWindow } from '../usage/quota-period.ts';
import { clientAddress } from './client-address.ts';

/** Who asks, as the account itself, and under which plan. */
export interface AccountCaller {
  readonly accountId: string;
  readonly planName: PlanName;
  readonly plan: Plan;
  /** The period of its subscription whose quota is used; without one the calendar month is. */
  readonly quotaWindow: QuotaWindow | null;
  readonly session: Session;
}

/** RFC 6750, section 2.1; the scheme's name in any case. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/**
 * By the header Authorization.
 *
 * @throws (from the function it makes) PlatenError UNAUTHENTICATED for a token that is missing, unknown, expired or
 * revoked; UNAVAILABLE when an issuer's token cannot be checked at the moment.
 */
export function bearerAuthenticator(parts: {
  readonly bearer: BearerTokens;
  readonly plans: PlanSource;
}): (request: Request) => Promise<AccountCaller> {
  return async (request) => {
    const header = request.headers.authorization;
    if (header === undefined || header === '') {
      throw new PlatenError('UNAUTHENTICATED', 'The header Authorization: Bearer <token> is required.');
    }
    const token = BEARER.exec(header)?.[1];
    const session =
      token === undefined ? undefined : await parts.bearer.verify(token, clientAddress(request));
    if (session === undefined) throw new PlatenError('UNAUTHENTICATED', 'The access token is not valid.');
    const { account } = session;
    return {
      accountId: account._id,
      planName: account.plan,
      plan: parts.plans.plan(account.plan),
      quotaWindow: account.quotaWindow ?? null,
      session,
    };
  };
}
