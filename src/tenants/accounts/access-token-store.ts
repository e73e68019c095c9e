import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import { TtlCache } from '../../infra/async/ttl-cache.ts';
import type { Clock } from '../../infra/clock.ts';
import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';

export interface AccessToken {
  /** Hex SHA-256 of the token. */
  readonly _id: string;
  /** The account whose person has signed in. */
  readonly accountId: string;
  /** The other account that the person acts for; absent for the own one. */
  readonly memberOf?: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revoked: boolean;
  /** Of the account when the token was issued; absent for 0. */
  readonly ownerFence?: number;
  /** The person has signed in with a second factor, or through an issuer, which asks for what it wants. */
  readonly secondFactor?: true;
  /** Present for a session: a token that a browser holds in a cookie. */
  readonly session?: BrowserSession;
}

/** The browser that holds a session, and when the session was last used. */
interface BrowserSession extends Browser {
  /** Updated once a minute at most. */
  readonly lastUsedAt: Date;
}

/** Where a user signs in from; a field is null when it is not known. */
export interface Browser {
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

/** A session that can be used: one that has neither expired nor been revoked. */
export type OpenSession = AccessToken & Required<Pick<AccessToken, 'session'>>;

export interface IssuedToken {
  /** Never stored. */
  readonly token: string;
  readonly expiresAt: Date;
}

const LIFETIME_MS = 12 * 3_600_000;
/** A session ends after this time without use, in milliseconds. */
export const SESSION_IDLE_MS = 2 * 3_600_000;
/** The shortest time between two updates of a session's last use, in milliseconds. */
const USE_NOTED_EVERY_MS = 60_000;
/** A revocation is in force in every process within this time, in milliseconds. */
const CACHE_MS = 800;
const CACHE_ENTRIES = 10_000;
const OWN_TOKEN = /^at_[A-Za-z0-9_-]{43}$/;
/** Differs from the form of a bearer token, so that neither can be used as the other. */
const SESSION_TOKEN = /^st_[A-Za-z0-9_-]{43}$/;

const TOKENS: CollectionSpec = {
  name: 'access_tokens',
  account: 'accountId',
  alsoOf: 'memberOf',
  indexes: [
    // Unique because it contains the id: see docs/decisions/0178.
    { fields: { accountId: 1, createdAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { expiresAt: 1 } },
    { fields: { memberOf: 1 }, sparse: true },
  ],
  filtersBy: {
    fields: ['expiresAt', 'memberOf', 'revoked', 'session.lastUsedAt'],
    reason: 'the index leads to the tokens of one account, which were made within the last 12 hours',
  },
};

/** Whether a session has ended because it was not used for SESSION_IDLE_MS. */
export function isIdle({ session }: AccessToken, now: Date): boolean {
  return session !== undefined && session.lastUsedAt <= idleSince(now);
}

function idleSince(now: Date): Date {
  return new Date(now.getTime() - SESSION_IDLE_MS);
}

/** Whether a bearer token has the form of the tokens that this service issues. */
export function isOwnToken(token: string): boolean {
  return OWN_TOKEN.test(token);
}

/** Whether a token has the form of session tokens. */
export function isSessionToken(token: string): boolean {
  return SESSION_TOKEN.test(token);
}

function newToken(prefix: 'at' | 'st'): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** Owns the access tokens: every token that this service issued, and an OpenID Connect issuer's revoked tokens. */
export class AccessTokenStore {
  readonly #tokens: Collection<AccessToken>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, AccessToken | undefined>;

  constructor(connection: Connection, clock: Clock) {
    this.#tokens = new Collection(connection, TOKENS);
    this.#clock = clock;
    this.#cache = new TtlCache(CACHE_MS, CACHE_ENTRIES, clock);
  }

  /**
   * A new opaque token, valid for 12 hours.
   *
   * @param browser that holds the token in a cookie; the token then also ends after SESSION_IDLE_MS without use. Absent
   * for a bearer token.
   * @param ownerFence of the account as it was when its owner proved to be that.
   * @param actsFor the account that the person acts for. Default: the own one.
   * @param secondFactor whether the person has signed in with one.
   */
  async issue(
    accountId: string,
    browser?: Browser,
    ownerFence = 0,
    actsFor = accountId,
    secondFactor = false,
  ): Promise<IssuedToken> {
    const token = newToken(browser === undefined ? 'at' : 'st');
    const createdAt = this.#clock.now();
    const expiresAt = new Date(createdAt.getTime() + LIFETIME_MS);
    const record: AccessToken = {
      _id: hashSecret(token),
      accountId,
      createdAt,
      expiresAt,
      revoked: false,
      ...(ownerFence > 0 && { ownerFence }),
      ...(actsFor !== accountId && { memberOf: actsFor }),
      ...(secondFactor && { secondFactor }),
      ...(browser && { session: { ...browser, lastUsedAt: createdAt } }),
    };
    await this.#tokens.insert(record);
    return { token, expiresAt };
  }

  /**
   * Ends a session and continues it under a new token, as old as before, for another account of the person.
   *
   * @returns undefined when the session has ended.
   */
  async succeed(id: string, actsFor: string): Promise<IssuedToken | undefined> {
    const old = await this.#tokens.findById(id);
    if (old === undefined || old.revoked || old.session === undefined) return undefined;
    const token = newToken('st');
    const { memberOf: _, ...kept } = old;
    await this.#tokens.insert({
      ...kept,
      _id: hashSecret(token),
      ...(actsFor !== old.accountId && { memberOf: actsFor }),
      session: { ...old.session, lastUsedAt: this.#clock.now() },
    });
    await this.revoke(id, old.accountId, old.expiresAt);
    return { token, expiresAt: old.expiresAt };
  }

  /** Notes that the person has given a second factor with this token. */
  async markSecondFactor(id: string): Promise<void> {
    await this.#tokens.updateOne({ _id: id }, { $set: { secondFactor: true } });
    this.#cache.forget(id);
  }

  /** Notes that the person has none any more. */
  async forgetSecondFactor(id: string): Promise<void> {
    await this.#tokens.updateOne({ _id: id }, { $unset: { secondFactor: '' } });
    this.#cache.forget(id);
  }

  /** Deletes all other tokens of a person. */
  async deleteOthers(personId: string, id: string): Promise<void> {
    const others = await this.#tokens.find({ accountId: personId });
    for (const { _id } of others) {
      if (_id === id) continue;
      await this.#tokens.deleteOne({ _id });
      this.#cache.forget(_id);
    }
  }

  /** Deletes the tokens with which a person acts for an account that is not the own one. */
  async deleteActing(personId: string, accountId: string): Promise<void> {
    const acting = await this.#tokens.find({ accountId: personId, memberOf: accountId });
    await this.#tokens.deleteMany({ accountId: personId, memberOf: accountId });
    for (const { _id } of acting) this.#cache.forget(_id);
  }

  /** The record of a token, at most CACHE_MS old. The token may be revoked or expired. */
  find(id: string): Promise<AccessToken | undefined> {
    return this.#cache.get(id, () => this.#tokens.findById(id));
  }

  /** Records that a session is used now; writes at most once a minute. */
  async noteUse({ _id, session }: OpenSession): Promise<void> {
    const now = this.#clock.now();
    if (now.getTime() - session.lastUsedAt.getTime() < USE_NOTED_EVERY_MS) return;
    await this.#tokens.updateOne({ _id }, { $set: { 'session.lastUsedAt': now } });
    this.#cache.forget(_id);
  }

  /** One page of the account's open sessions, newest first, and the number of all open sessions. */
  async sessions(
    accountId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ total: number; sessions: OpenSession[] }> {
    const now = this.#clock.now();
    const open = {
      accountId,
      revoked: false,
      expiresAt: { $gt: now },
      'session.lastUsedAt': { $gt: idleSince(now) },
    };
    const page = { sort: { createdAt: -1, _id: -1 }, skip: offset, limit } as const;
    const [total, sessions] = await Promise.all([this.#tokens.count(open), this.#tokens.find(open, page)]);
    return { total, sessions: sessions as OpenSession[] };
  }

  /** Ends a session of the account. @returns false when the account has no open session with this id. */
  async endSession(accountId: string, id: string): Promise<boolean> {
    const open = { _id: id, accountId, revoked: false, expiresAt: { $gt: this.#clock.now() } };
    const ended = await this.#tokens.updateOne(
      { ...open, session: { $exists: true } },
      { $set: { revoked: true } },
    );
    this.#cache.forget(id);
    return ended;
  }

  /** @param expiresAt when the token would have expired. */
  async revoke(id: string, accountId: string, expiresAt: Date): Promise<void> {
    await this.#tokens.upsert(id, {
      $set: { revoked: true },
      $setOnInsert: { accountId, createdAt: this.#clock.now(), expiresAt },
    });
    this.#cache.forget(id);
  }

  /** Deletes every token that this service issued to the account. */
  async deleteOf(accountId: string): Promise<void> {
    await this.#tokens.deleteMany({ accountId });
  }

  /** Deletes the tokens that were issued to the account before a time. @returns the number of deleted tokens. */
  deleteBefore(accountId: string, createdBefore: Date): Promise<number> {
    return this.#tokens.deleteMany({ accountId, createdAt: { $lt: createdBefore } });
  }

  /** @returns the number of deleted tokens. */
  deleteExpired(now: Date): Promise<number> {
    return this.#tokens.deleteMany({ expiresAt: { $lte: now } });
  }
}
