import { createHash, randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import { TtlCache } from '../async/ttl-cache.ts';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';

export interface AccessToken {
  /** Hex SHA-256 of the token. */
  readonly _id: string;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revoked: boolean;
}

export interface IssuedToken {
  /** Kept nowhere. */
  readonly token: string;
  readonly expiresAt: Date;
}

const LIFETIME_MS = 12 * 3_600_000;
/** Revoking works everywhere within this time. */
const CACHE_MS = 800;
const CACHE_ENTRIES = 10_000;
const OWN_TOKEN = /^at_[A-Za-z0-9_-]{43}$/;

const TOKENS: CollectionSpec = {
  name: 'access_tokens',
  indexes: [{ fields: { accountId: 1 } }, { fields: { expiresAt: 1 } }],
};

/** What a token is stored and looked up by. Tokens have 256 random bits or a signature, so a fast hash is enough. */
export function tokenId(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Whether a bearer token has the form of those made here. */
export function isOwnToken(token: string): boolean {
  return OWN_TOKEN.test(token);
}

/** Owns the access tokens: those made here, and of an issuer's only those that were revoked before their time. */
export class AccessTokenStore {
  readonly #tokens: Collection<AccessToken>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, AccessToken | undefined>;

  constructor(connection: Connection, clock: Clock) {
    this.#tokens = new Collection(connection, TOKENS);
    this.#clock = clock;
    this.#cache = new TtlCache(CACHE_MS, CACHE_ENTRIES, clock);
  }

  /** A new opaque token, valid for 12 hours. */
  async issue(accountId: string): Promise<IssuedToken> {
    const token = `at_${randomBytes(32).toString('base64url')}`;
    const createdAt = this.#clock.now();
    const expiresAt = new Date(createdAt.getTime() + LIFETIME_MS);
    const record: AccessToken = { _id: tokenId(token), accountId, createdAt, expiresAt, revoked: false };
    await this.#tokens.insert(record);
    return { token, expiresAt };
  }

  /** What is known of a token, as it was at most CACHE_MS ago. It may be revoked or expired. */
  find(id: string): Promise<AccessToken | undefined> {
    return this.#cache.get(id, () => this.#tokens.findById(id));
  }

  /** @param expiresAt when the token would have ended by itself. */
  async revoke(id: string, accountId: string, expiresAt: Date): Promise<void> {
    await this.#tokens.upsert(id, {
      $set: { revoked: true },
      $setOnInsert: { accountId, createdAt: this.#clock.now(), expiresAt },
    });
    this.#cache.forget(id);
  }

  /** Deletes every token that was made here for the account. */
  async deleteOf(accountId: string): Promise<void> {
    await this.#tokens.deleteMany({ accountId });
  }

  /** @returns how many there were. */
  deleteExpired(now: Date): Promise<number> {
    return this.#tokens.deleteMany({ expiresAt: { $lte: now } });
  }
}
