import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';

/** A passkey (WebAuthn credential) of a person. */
export interface Passkey {
  /** Hex SHA-256 of the credential's id. */
  readonly _id: string;
  /** Base64url. */
  readonly credentialId: string;
  /** The person. */
  readonly accountId: string;
  readonly name: string;
  /** In COSE, base64url. */
  readonly publicKey: string;
  /** Of the last signature; stays 0 for passkeys that are on several devices. */
  readonly counter: number;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** Of the person's record when it was made. It counts with that fence only. */
  readonly ownerFence: number;
}

/** A person as passkeys know one. */
interface Person {
  readonly _id: string;
  readonly ownerFence?: number;
}

/** The most passkeys of a person. */
export const MAX_PASSKEYS = 20;

const PASSKEYS: CollectionSpec = {
  name: 'passkeys',
  account: 'accountId',
  // Unique because it contains the id: see docs/decisions/0178.
  indexes: [{ fields: { accountId: 1, createdAt: 1, _id: 1 }, unique: 'embedded' }],
  filtersBy: { fields: ['ownerFence'], reason: 'a person has few passkeys' },
};

/** Owns the passkeys. */
export class PasskeyStore {
  readonly #passkeys: Collection<Passkey>;
  readonly #clock: Clock;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    this.#passkeys = new Collection(connection, PASSKEYS);
    this.#clock = clock;
  }

  /** The passkeys that sign the person in, the oldest first. */
  ofPerson({ _id, ownerFence = 0 }: Person): Promise<Passkey[]> {
    return this.#passkeys.find(
      { accountId: _id, ownerFence },
      { sort: { createdAt: 1, _id: 1 }, limit: 2 * MAX_PASSKEYS },
    );
  }

  /** @param credentialId base64url. */
  byCredential(credentialId: string): Promise<Passkey | undefined> {
    return this.#passkeys.findById(hashSecret(credentialId));
  }

  /** @returns undefined when the credential is somebody's already. */
  async add(
    { _id, ownerFence = 0 }: Person,
    made: Pick<Passkey, 'credentialId' | 'name' | 'publicKey' | 'counter'>,
  ): Promise<Passkey | undefined> {
    const passkey: Passkey = {
      ...made,
      _id: hashSecret(made.credentialId),
      accountId: _id,
      createdAt: this.#clock.now(),
      lastUsedAt: null,
      ownerFence,
    };
    return (await this.#passkeys.insertIfAbsent(passkey)) ? passkey : undefined;
  }

  /** Notes a use. @returns false when another request has used it since it was read, or it is removed. */
  noteUse({ _id, counter }: Passkey, newCounter: number): Promise<boolean> {
    const $set = { counter: newCounter, lastUsedAt: this.#clock.now() };
    return this.#passkeys.updateOne({ _id, counter }, { $set });
  }

  /** @returns undefined when the person has no such passkey. */
  rename({ _id }: Person, id: string, name: string): Promise<Passkey | undefined> {
    return this.#passkeys.findOneAndUpdate({ _id: id, accountId: _id }, { $set: { name } });
  }

  /** @returns false when the person has no such passkey. */
  remove({ _id }: Person, id: string): Promise<boolean> {
    return this.#passkeys.deleteOne({ _id: id, accountId: _id });
  }
}
