import type { Account, AccountReader } from '../tenants/accounts/account-store.ts';
import { CommandError } from './command-error.ts';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The account with an id or an e-mail address.
 *
 * @param who the account's id or e-mail address.
 * @throws CommandError when there is no such account, or several accounts have the address.
 */
export async function findAccount(accounts: AccountReader, who: string): Promise<Account> {
  if (UUID.test(who)) {
    const account = await accounts.find(who.toLowerCase());
    if (account === undefined) throw new CommandError(`There is no account ${who}.`);
    return account;
  }
  const signsIn = await accounts.findByEmail(who);
  const found = signsIn === undefined ? await accounts.listByShownEmail(who) : [signsIn];
  if (found.length > 1) {
    const ids = found.map(({ _id }) => _id).join(', ');
    throw new CommandError(`Several accounts have the address ${who}; name one by its id: ${ids}`);
  }
  if (found[0] === undefined) throw new CommandError(`There is no account with the address ${who}.`);
  return found[0];
}
