import type { AccountReader } from './account-store.ts';

/** The e-mail address of the owner of an account; null without an account or an address. */
export async function emailOf(
  accounts: Pick<AccountReader, 'find'>,
  accountId: string,
): Promise<string | null> {
  const account = await accounts.find(accountId);
  const owner = account?.ownerId === undefined ? account : await accounts.find(account.ownerId);
  return owner?.email ?? null;
}

/** The e-mail addresses of people by their ids; without those that are deleted or have none. */
export async function addressesOf(
  accounts: Pick<AccountReader, 'find'>,
  personIds: Iterable<string | null | undefined>,
): Promise<ReadonlyMap<string | null | undefined, string>> {
  const ids = [...new Set(personIds)].filter((id) => typeof id === 'string');
  const people = await Promise.all(ids.map((id) => accounts.find(id)));
  return new Map(people.flatMap((person) => (person?.email ? [[person._id, person.email] as const] : [])));
}
