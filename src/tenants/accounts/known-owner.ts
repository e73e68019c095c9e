import type { Account } from './account-store.ts';
import { madeByOperator } from './operator-accounts.ts';

/**
 * Whether the owner of an account is known to own its address, or the address gives no access: a link in a mail has
 * proved it, the operator of the service vouches for it, or the account is an issuer's.
 */
export function hasKnownOwner(account: Account): boolean {
  return account.emailVerifiedAt !== undefined || account.login === undefined || madeByOperator(account);
}
