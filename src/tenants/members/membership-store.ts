import type { Connection } from 'mongoose';
import { TtlCache } from '../../infra/async/ttl-cache.ts';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import type { MemberRole } from './roles.ts';

/** That a person belongs to an account besides the own one. The owner of an account needs none. */
export interface Membership {
  /** `<account>:<person>`. */
  readonly _id: string;
  readonly accountId: string;
  /** The record of `accounts` with which the person signs in. */
  readonly personId: string;
  readonly role: MemberRole;
  /** Fence of the account when it was made; absent for 0. It counts with that fence only. */
  readonly ownerFence?: number;
  /** Fence of the person's record when it was made; absent for 0. It counts with that fence only. */
  readonly personFence?: number;
  readonly createdAt: Date;
}

type NewMembership = Pick<Membership, 'accountId' | 'personId' | 'role'> & {
  readonly ownerFence: number | undefined;
  readonly personFence: number | undefined;
};

/** The most people that an account may have besides its owner, and the most accounts that a person may belong to. */
export const MAX_MEMBERSHIPS = 100;

/** A change of a membership is in force in every process within this time, in milliseconds. */
const CACHE_MS = 800;
const CACHE_ENTRIES = 10_000;

const MEMBERSHIPS: CollectionSpec = {
  name: 'memberships',
  account: 'accountId',
  alsoOf: 'personId',
  indexes: [
    // Unique because they contain the id: see docs/decisions/0178.
    { fields: { accountId: 1, createdAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { personId: 1, createdAt: 1, _id: 1 }, unique: 'embedded' },
  ],
};

/** Owns the memberships: who belongs to which account, and with which role. */
export class MembershipStore {
  readonly #memberships: Collection<Membership>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, Membership | undefined>;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    this.#memberships = new Collection(connection, MEMBERSHIPS);
    this.#clock = clock;
    this.#cache = new TtlCache(CACHE_MS, CACHE_ENTRIES, clock);
  }

  /** The membership, at most CACHE_MS old. Whether its fences are those of account and person is left to the caller. */
  find(accountId: string, personId: string): Promise<Membership | undefined> {
    const id = idOf(accountId, personId);
    return this.#cache.get(id, () => this.#memberships.findById(id));
  }

  /** The members of an account, the oldest first: MAX_MEMBERSHIPS at most. */
  ofAccount(accountId: string): Promise<Membership[]> {
    return this.#memberships.find(
      { accountId },
      { sort: { createdAt: 1, _id: 1 }, limit: MAX_MEMBERSHIPS + 1 },
    );
  }

  /** The memberships of a person, the oldest first: MAX_MEMBERSHIPS at most. */
  ofPerson(personId: string): Promise<Membership[]> {
    return this.#memberships.find(
      { personId },
      { sort: { createdAt: 1, _id: 1 }, limit: MAX_MEMBERSHIPS + 1 },
    );
  }

  /** Makes the person a member, also where there is a membership already. */
  async put({ accountId, personId, role, ownerFence, personFence }: NewMembership): Promise<void> {
    const id = idOf(accountId, personId);
    const fences = { ownerFence: ownerFence ?? 0, personFence: personFence ?? 0 };
    await this.#memberships.upsert(id, {
      $set: { role, ...fences },
      $setOnInsert: { accountId, personId, createdAt: this.#clock.now() },
    });
    this.#cache.forget(id);
  }

  /** @returns false when there is no such membership. */
  async setRole(accountId: string, personId: string, role: MemberRole): Promise<boolean> {
    const id = idOf(accountId, personId);
    const changed = await this.#memberships.updateOne({ _id: id }, { $set: { role } });
    this.#cache.forget(id);
    return changed;
  }

  /** @returns false when there is no such membership. */
  async remove(accountId: string, personId: string): Promise<boolean> {
    const id = idOf(accountId, personId);
    const removed = await this.#memberships.deleteOne({ _id: id });
    this.#cache.forget(id);
    return removed;
  }
}

function idOf(accountId: string, personId: string): string {
  return `${accountId}:${personId}`;
}
