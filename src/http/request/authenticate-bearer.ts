import type { Request } from 'express';
import { PlatenError } from '../../infra/errors/registry.ts';
import { requireActive } from '../../tenants/accounts/account.ts';
import type { BearerTokens, Session } from '../../tenants/accounts/bearer.ts';
import { type Caller, NO_KEY } from '../../tenants/accounts/caller.ts';
import { requiredDomain } from '../../tenants/accounts/sign-in-domains.ts';
import { byAccount, type DoneBy } from '../../tenants/audit/audit-log.ts';
import { type Right, rolesWith } from '../../tenants/members/roles.ts';
import type { Plan, PlanName } from '../../tenants/plans/plan.ts';
import type { PlanSource } from '../../tenants/plans/plan-source.ts';
import type { QuotaWindow } from '../../tenants/plans/quota-period.ts';
import { clientAddress } from './client-address.ts';
import { requireSameOrigin } from './same-origin.ts';
import { sessionTokenIn } from './session-cookie.ts';

/** A person who acts for an account, and the account's plan. */
export interface AccountCaller {
  readonly accountId: string;
  readonly planName: PlanName;
  readonly plan: Plan;
  /** The subscription period whose quota is used; null for the calendar month. */
  readonly quotaWindow: QuotaWindow | null;
  /** As in a `Caller`. */
  readonly ownerFence: number | undefined;
  readonly session: Session;
}

/** An account that requests work without a key, in the mode of live or test keys. */
export function withoutKey(
  { accountId, planName, plan, quotaWindow, ownerFence }: AccountCaller,
  mode: Caller['mode'],
): Caller {
  return { ...NO_KEY, accountId, mode, planName, plan, quotaWindow, ownerFence };
}

/** The person behind a change, for the audit log. */
export function byPerson({ session }: AccountCaller, clientAddress: string | undefined): DoneBy {
  return byAccount(clientAddress, session.person._id);
}

/**
 * Requires a right of the person's role in the account.
 *
 * @throws PlatenError ROLE_NOT_ALLOWED; SECOND_FACTOR_REQUIRED and ISSUER_REQUIRED where the account requires that.
 */
export function requireRight({ session }: AccountCaller, right: Right): void {
  const { role, account, secondFactor } = session;
  const roles = rolesWith(right);
  if (roles.includes(role)) {
    if (right !== 'self' && account.requiresSecondFactor && !secondFactor)
      throw new PlatenError('SECOND_FACTOR_REQUIRED');
    if (right !== 'self' && requiredDomain(session) !== null) throw new PlatenError('ISSUER_REQUIRED');
    return;
  }
  const allowed = roles.length === 1 ? `the role ${roles[0]}` : `one of the roles ${roles.join(', ')}`;
  const own = role === 'none' ? 'you belong to no account' : `your role is ${role}`;
  throw new PlatenError('ROLE_NOT_ALLOWED', `This needs ${allowed}; ${own}.`);
}

/** RFC 6750, section 2.1; the scheme's name in any case. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** Methods that change nothing, so that a session's cookie is accepted from any page. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Authenticates by the header Authorization; without one, by the cookie of a session.
 *
 * @throws (from the returned function) PlatenError UNAUTHENTICATED for a token or session that is missing, unknown,
 * expired or revoked; ORIGIN_NOT_ALLOWED for a request with a cookie that another site may have forged; UNAVAILABLE
 * when an issuer's token cannot be checked at the moment; ACCOUNT_SUSPENDED.
 */
export function bearerAuthenticator(deps: {
  readonly bearer: BearerTokens;
  readonly plans: PlanSource;
  readonly publicUrl: () => string;
}): (request: Request) => Promise<AccountCaller> {
  return async (request) => {
    const { authorization = '' } = request.headers;
    const session =
      authorization === '' ? await byCookie(deps, request) : await byToken(deps, request, authorization);
    const { account, person } = session;
    requireActive(account);
    requireActive(person);
    return {
      accountId: account._id,
      planName: account.plan,
      plan: await deps.plans.resolve(account.plan),
      quotaWindow: account.quotaWindow ?? null,
      ownerFence: account.ownerFence,
      session,
    };
  };
}

async function byToken(
  { bearer }: { readonly bearer: BearerTokens },
  request: Request,
  authorization: string,
): Promise<Session> {
  const token = BEARER.exec(authorization)?.[1];
  const session = token === undefined ? undefined : await bearer.verify(token, clientAddress(request));
  if (session === undefined) throw new PlatenError('UNAUTHENTICATED', 'The access token is not valid.');
  return session;
}

async function byCookie(
  { bearer, publicUrl }: { readonly bearer: BearerTokens; readonly publicUrl: () => string },
  request: Request,
): Promise<Session> {
  const token = sessionTokenIn(request.headers.cookie, publicUrl());
  if (token === undefined) {
    throw new PlatenError(
      'UNAUTHENTICATED',
      'The header Authorization: Bearer <token> is required, or the cookie of a session.',
    );
  }
  if (!SAFE_METHODS.has(request.method)) requireSameOrigin(request, publicUrl());
  const session = await bearer.verifySession(token);
  if (session === undefined) throw new PlatenError('UNAUTHENTICATED', 'The session has ended.');
  return session;
}
