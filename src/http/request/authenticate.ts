import type { Request } from 'express';
import { PlatenError } from '../../infra/errors/registry.ts';
import { requireActive } from '../../tenants/accounts/account.ts';
import type { AccountReader } from '../../tenants/accounts/account-store.ts';
import type { BearerTokens } from '../../tenants/accounts/bearer.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import { isAddressAllowed } from '../../tenants/keys/allowed-ips.ts';
import type { KeyReader } from '../../tenants/keys/key-store.ts';
import type { LastUse } from '../../tenants/keys/last-use.ts';
import type { PlanSource } from '../../tenants/plans/plan-source.ts';
import { apiKeyIn } from './api-key-header.ts';
import type { AccountCaller } from './authenticate-bearer.ts';
import { clientAddress } from './client-address.ts';
import type { Auth, Identities } from './route.ts';

/** Authenticates callers, in each way that the routes of an app use. */
export type Authenticators = { readonly [A in Auth]?: (request: Request) => Promise<Identities[A]> };

/**
 * Checks that the account of a caller has the owner that it had when the caller was authenticated, and is not suspended,
 * and that a person still has the same role in it.
 *
 * @throws (from the returned function) PlatenError UNAUTHENTICATED; ACCOUNT_SUSPENDED.
 */
export function ownerCheck({
  accounts,
  bearer,
}: {
  readonly accounts: AccountReader;
  readonly bearer: Pick<BearerTokens, 'hasRole'>;
}) {
  return async (caller: Caller | AccountCaller): Promise<void> => {
    const { accountId, ownerFence } = caller;
    const account = await accounts.findOwned(accountId, ownerFence);
    if (account === undefined) throw new PlatenError('UNAUTHENTICATED', 'The account has another owner now.');
    requireActive(account);
    if ('session' in caller && !(await bearer.hasRole(caller.session)))
      throw new PlatenError('UNAUTHENTICATED', 'Your role in the account was changed at this moment.');
  };
}

/**
 * Authenticates by the header X-API-Key, or by a key in Authorization.
 *
 * @throws (from the returned function) PlatenError UNAUTHENTICATED for a key that is missing, unknown or revoked;
 * ACCOUNT_SUSPENDED; ADDRESS_NOT_ALLOWED when the key may not be used from the client's address.
 */
export function apiKeyAuthenticator(deps: {
  readonly keys: KeyReader;
  readonly accounts: AccountReader;
  readonly plans: PlanSource;
  readonly lastUse: LastUse;
}): (request: Request) => Promise<Caller> {
  return async (request) => {
    const secret = apiKeyIn(request.headers);
    if (secret === undefined) {
      throw new PlatenError('UNAUTHENTICATED', 'The header X-API-Key is required.');
    }
    const key = await deps.keys.authenticate(secret);
    const account = key && (await deps.accounts.findOwned(key.accountId, key.ownerFence));
    if (key === undefined || account === undefined) {
      throw new PlatenError('UNAUTHENTICATED', 'The API key is not valid.');
    }
    requireActive(account);
    const address = clientAddress(request);
    if (!isAddressAllowed(key.allowedIps, address)) throw new PlatenError('ADDRESS_NOT_ALLOWED');
    deps.lastUse.note(key._id, address);
    return {
      accountId: account._id,
      apiKeyId: key._id,
      apiKeyPrefix: key.prefix,
      mode: key.mode,
      planName: account.plan,
      plan: await deps.plans.resolve(account.plan),
      quotaWindow: account.quotaWindow,
      ownerFence: account.ownerFence,
      keepsRequestDetails: account.withoutRequestDetails !== true,
    };
  };
}
