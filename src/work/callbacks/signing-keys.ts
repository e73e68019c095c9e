import { randomBytes, randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { SECRET_PREFIX } from './signature.ts';

/** A key that callbacks of an account are signed with. */
export interface SigningKey {
  readonly id: string;
  readonly secret: string;
  readonly createdAt: Date;
  /** When it stops signing; null for the newest. */
  readonly expiresAt: Date | null;
}

interface KeyRing {
  readonly _id: string;
  readonly version: number;
  /** The newest first; never empty. */
  readonly keys: readonly SigningKey[];
  /** Of the account when they were made; absent for 0. Keys of a lower fence than the account's neither sign nor show. */
  readonly ownerFence?: number;
}

const SECRET_BYTES = 32;
/** How long a key continues to sign after it was replaced, in milliseconds. */
const OVERLAP_MS = 24 * 3_600_000;
/** Keys that sign at a time: more rotations within a day end the overlap of the oldest. */
const MOST_KEYS = 5;
/** How often other rotations may come first before this one gives up. */
const TRIES = 10;

const RINGS: CollectionSpec = { name: 'callback_keys', account: '_id' };

/** Owns the keys that sign callbacks. They are stored in the clear: signing needs them. */
export class SigningKeys {
  readonly #rings: Collection<KeyRing>;
  readonly #clock: Clock;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    this.#rings = new Collection<KeyRing>(connection, RINGS);
    this.#clock = clock;
  }

  /** The keys that sign now, newest first; the first is made when needed. @param ownerFence of the account. */
  async signing(accountId: string, ownerFence = 0): Promise<readonly SigningKey[]> {
    const found = await this.list(accountId, ownerFence);
    if (found.length > 0) return found;
    const first = {
      _id: accountId,
      version: 1,
      keys: [this.#newKey()],
      ...(ownerFence > 0 && { ownerFence }),
    };
    await this.endBefore(accountId, ownerFence);
    await this.#rings.insertIfAbsent(first);
    return this.list(accountId, ownerFence);
  }

  /** The same, but none until the account has had one. */
  async list(accountId: string, ownerFence = 0): Promise<readonly SigningKey[]> {
    return this.#unexpired(await this.#rings.findById(accountId), ownerFence);
  }

  /** Deletes the keys of whoever had the account before. @returns the number of keys that signed until now. */
  async endBefore(accountId: string, ownerFence: number): Promise<number> {
    const ring = await this.#rings.findById(accountId);
    if (ring === undefined || (ring.ownerFence ?? 0) >= ownerFence) return 0;
    const isDeleted = await this.#rings.deleteOne({ _id: accountId, version: ring.version });
    return isDeleted ? this.#unexpired(ring, ring.ownerFence).length : 0;
  }

  /** Earlier keys sign for 24 hours more. @throws PlatenError UNAUTHENTICATED after a change of owner; UNAVAILABLE. */
  async rotate(accountId: string, ownerFence = 0): Promise<SigningKey> {
    const key = this.#newKey();
    const expiresAt = new Date(key.createdAt.getTime() + OVERLAP_MS);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const ring = await this.#rings.findById(accountId);
      if ((ring?.ownerFence ?? 0) > ownerFence) throw new PlatenError('UNAUTHENTICATED');
      const older = this.#unexpired(ring, ownerFence).map((old) => ({
        ...old,
        expiresAt: old.expiresAt ?? expiresAt,
      }));
      const keys = [key, ...older].slice(0, MOST_KEYS);
      const set = { keys, ...(ownerFence > 0 && { ownerFence }) };
      const done =
        ring === undefined
          ? await this.#rings.insertIfAbsent({ _id: accountId, version: 1, ...set })
          : await this.#rings.updateOne(
              { _id: accountId, version: ring.version },
              { $set: set, $inc: { version: 1 } },
            );
      if (done) return key;
    }
    throw new PlatenError('UNAVAILABLE', 'The keys keep changing; try again.', { retryAfterSeconds: 1 });
  }

  #unexpired(ring: KeyRing | undefined, ownerFence = 0): SigningKey[] {
    if ((ring?.ownerFence ?? 0) !== ownerFence) return [];
    const now = this.#clock.now();
    return (ring?.keys ?? []).filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  }

  #newKey(): SigningKey {
    const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
    return { id: randomUUID(), secret, createdAt: this.#clock.now(), expiresAt: null };
  }
}
