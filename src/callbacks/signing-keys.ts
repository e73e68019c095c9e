import { randomBytes, randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
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
  /** The account. */
  readonly _id: string;
  readonly version: number;
  /** The newest first; never empty. */
  readonly keys: readonly SigningKey[];
}

const SECRET_BYTES = 32;
/** How long a key continues to sign after it was replaced, in milliseconds. */
const OVERLAP_MS = 24 * 3_600_000;
/** Keys that sign at a time: more rotations within a day end the overlap of the oldest. */
const MOST_KEYS = 5;
/** How often other rotations may come first before this one gives up. */
const TRIES = 10;

const RINGS: CollectionSpec = { name: 'callback_keys' };

/** Owns the keys that sign callbacks. They are stored in the clear: signing needs them. */
export class SigningKeys {
  readonly #rings: Collection<KeyRing>;
  readonly #clock: Clock;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    this.#rings = new Collection<KeyRing>(connection, RINGS);
    this.#clock = clock;
  }

  /** The keys that sign at the moment, the newest first; an account's first key is made when it is needed. */
  async signing(accountId: string): Promise<readonly SigningKey[]> {
    const found = await this.list(accountId);
    if (found.length > 0) return found;
    await this.#rings.insertIfAbsent({ _id: accountId, version: 1, keys: [this.#newKey()] });
    return this.list(accountId);
  }

  /** The same, but none until the account has had one. */
  async list(accountId: string): Promise<readonly SigningKey[]> {
    return this.#unexpired(await this.#rings.findById(accountId));
  }

  /** Makes a new key; earlier keys sign for 24 hours more. @returns the new one. */
  async rotate(accountId: string): Promise<SigningKey> {
    const key = this.#newKey();
    const expiresAt = new Date(key.createdAt.getTime() + OVERLAP_MS);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const ring = await this.#rings.findById(accountId);
      const older = this.#unexpired(ring).map((old) => ({ ...old, expiresAt: old.expiresAt ?? expiresAt }));
      const keys = [key, ...older].slice(0, MOST_KEYS);
      const done =
        ring === undefined
          ? await this.#rings.insertIfAbsent({ _id: accountId, version: 1, keys })
          : await this.#rings.updateOne(
              { _id: accountId, version: ring.version },
              { $set: { keys }, $inc: { version: 1 } },
            );
      if (done) return key;
    }
    throw new PlatenError('UNAVAILABLE', 'The keys keep changing; try again.', { retryAfterSeconds: 1 });
  }

  #unexpired(ring: KeyRing | undefined): SigningKey[] {
    const now = this.#clock.now();
    return (ring?.keys ?? []).filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  }

  #newKey(): SigningKey {
    const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
    return { id: randomUUID(), secret, createdAt: this.#clock.now(), expiresAt: null };
  }
}
