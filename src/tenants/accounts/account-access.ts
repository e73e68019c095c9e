import type { Membership } from '../members/membership-store.ts';
import type { Role } from '../members/roles.ts';
import type { Account, AccountStore } from './account-store.ts';
import type { Stores } from './stores.ts';

/** A person who acts for an account: for the own one, or for one that the person belongs to. */
export interface Acting {
  readonly account: Account;
  /** The record of `accounts` with which the person signs in: the same, unless the person acts for another account. */
  readonly person: Account;
  readonly role: Role;
}

/** The person that owns an account: whoever signs in with its record, until the ownership is transferred. */
export function ownerIdOf({ _id, ownerId }: Pick<Account, '_id' | 'ownerId'>): string {
  return ownerId ?? _id;
}

/** Decides which person may act for which account, and as what. */
export class AccountAccess {
  readonly #stores: Pick<Stores, 'accounts' | 'memberships'>;

  constructor(stores: Pick<Stores, 'accounts' | 'memberships'>) {
    this.#stores = stores;
  }

  /** What the person is to the account; undefined for a stranger. At most a second late. */
  async roleIn(account: Account, person: Account): Promise<Role | undefined> {
    const isOwn = account._id === person._id;
    if (ownerIdOf(account) === person._id) return isOwn && account.memberOnly ? 'none' : 'owner';
    const membership = await this.#stores.memberships.find(account._id, person._id);
    if (membership !== undefined && isInForce(membership, account, person)) return membership.role;
    return isOwn ? 'none' : undefined;
  }

  /** @param accountId the account to act for. @returns undefined when the person does not belong to it. */
  async act(person: Account, accountId = person._id): Promise<Acting | undefined> {
    const account = accountId === person._id ? person : await this.#stores.accounts.find(accountId);
    const role = account && (await this.roleIn(account, person));
    return role && { account: account!, person, role };
  }

  /**
   * The account that a person acts for after signing in: the one that a browser acted for last, the own one, or else the
   * first that the person belongs to.
   */
  async landing(person: Account, last = person._id): Promise<Acting> {
    const own = { account: person, person, role: 'none' } as const;
    const acting = await this.act(person, last);
    if (acting !== undefined && acting.role !== 'none') return acting;
    return (await this.ofPerson(person))[0] ?? own;
  }

  /** All accounts that the person may act for, the own one first. */
  async ofPerson(person: Account): Promise<Acting[]> {
    const [memberships, owned] = await Promise.all([
      this.#stores.memberships.ofPerson(person._id),
      this.#stores.accounts.ownedBy(person._id),
    ]);
    const ids = new Set([
      person._id,
      ...owned.map(({ _id }) => _id),
      ...memberships.map(({ accountId }) => accountId),
    ]);
    const acting = await Promise.all([...ids].map((id) => this.act(person, id)));
    return acting.filter((found) => found !== undefined && found.role !== 'none') as Acting[];
  }
}

/** Why the record of a person cannot be deleted: the person owns another account by transfer. */
export async function ownershipHindrance(
  accounts: Pick<AccountStore, 'ownedBy'>,
  personId: string,
): Promise<string | undefined> {
  const owned = (await accounts.ownedBy(personId)).find(({ _id }) => _id !== personId);
  return owned && `its person owns account ${owned._id}: have it transferred or delete it first`;
}

/** Whether neither account nor person has been taken over since the membership was made (docs/decisions/0321). */
export function isInForce(membership: Membership, account: Account, person: Account): boolean {
  const { ownerFence = 0, personFence = 0 } = membership;
  return (account.ownerFence ?? 0) === ownerFence && (person.ownerFence ?? 0) === personFence;
}
