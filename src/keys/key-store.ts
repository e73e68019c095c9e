import { randomUUID } from 'node:crypto';
import type { Connection, Model } from 'mongoose';
import { TtlCache } from '../async/ttl-cache.ts';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { collectionSchema } from '../store/collection-schema.ts';
import { isDuplicateKey } from '../store/duplicate-key.ts';
import { hashSecret, isSameHash, type KeyMode, modeOf, newSecret, prefixOf } from './secret.ts';

export const KEY_STATUSES = ['active', 'revoked'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

/** The last use that is known of; whole, so that the latest can win in one update. */
export interface KeyUse {
  readonly at: Date;
  readonly ip: string | null;
  /** A country's name. */
  readonly geo: string | null;
}

/**
 * An API key.
 *
 * Active keys sit in numbered seats, and a seat passes from key to key: each that takes it is the next generation.
 * Seat and generation are unique together, so of two who take the same seat at the same moment one is refused by the
 * database. New keys take the lowest free seat (the plan's capacity is exact because all who find one place left find
 * the same one), and a rotated key's replacement takes the seat over before the old key is revoked (nobody can take
 * its place in between). See docs/decisions/0011-key-seats.md.
 */
export interface ApiKey {
  readonly _id: string;
  readonly accountId: string;
  readonly seat: number;
  readonly generation: number;
  readonly name: string;
  /** The name in lower case, to sort by. */
  readonly sortName: string;
  readonly prefix: string;
  /** Hex SHA-256 of the secret. */
  readonly hash: string;
  readonly mode: KeyMode;
  readonly status: KeyStatus;
  readonly allowedIps: readonly string[];
  readonly createdAt: Date;
  readonly lastUse: KeyUse | null;
  readonly revokedAt: Date | null;
}

export interface NewKey {
  readonly name: string;
  readonly mode: KeyMode;
  /** In the form of `normaliseAllowedIp`. */
  readonly allowedIps: readonly string[];
  /** A given one; otherwise one is made. */
  readonly secret?: string;
}

/** A key and its secret, which is kept nowhere. */
export interface KeyWithSecret {
  readonly key: ApiKey;
  readonly secret: string;
}

export const KEY_SORTS = [
  'last_used_desc',
  'last_used_asc',
  'created_desc',
  'created_asc',
  'name_asc',
  'name_desc',
] as const;

export interface KeyQuery {
  readonly status?: KeyStatus | undefined;
  readonly mode?: KeyMode | undefined;
  readonly sort: (typeof KEY_SORTS)[number];
  readonly limit: number;
  readonly offset: number;
}

/** Revoking works everywhere within this time. */
const CACHE_MS = 800;
const CACHE_ENTRIES = 10_000;
/** Others who take seats at the same moment, before this one gives up. */
const SEAT_TRIES = 100;

const SORT_FIELDS = { last_used: 'lastUse.at', created: 'createdAt', name: 'sortName' } as const;

/** Owns the API keys. */
export class KeyStore {
  readonly #model: Model<ApiKey>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, ApiKey | undefined>;

  constructor(connection: Connection, clock: Clock) {
    const schema = collectionSchema<ApiKey>('api_keys', {
      _id: String,
      accountId: String,
      seat: Number,
      generation: Number,
      name: String,
      sortName: String,
      prefix: String,
      hash: String,
      mode: String,
      status: String,
      allowedIps: [String],
      createdAt: Date,
      lastUse: { type: { at: Date, ip: String, geo: String }, _id: false },
      revokedAt: Date,
    });
    schema.index({ hash: 1 }, { unique: true });
    schema.index({ accountId: 1, seat: 1, generation: 1 }, { unique: true });
    schema.index({ accountId: 1, status: 1 });
    this.#model = connection.model<ApiKey>('ApiKey', schema);
    this.#clock = clock;
    this.#cache = new TtlCache(CACHE_MS, CACHE_ENTRIES, clock);
  }

  /** The active key with this secret, as it was at most CACHE_MS ago. */
  async authenticate(secret: string): Promise<ApiKey | undefined> {
    if (modeOf(secret) === undefined) return undefined;
    const hash = hashSecret(secret);
    const key = await this.#cache.get(hash, async () => {
      return ((await this.#model.findOne({ hash }).lean()) as ApiKey | null) ?? undefined;
    });
    // An index takes its own time to compare; nobody can aim at a hash, and what decides takes the same for any.
    return key?.status === 'active' && isSameHash(key.hash, hash) ? key : undefined;
  }

  /**
   * @param capacity keys of the account that may be active at a time.
   * @throws PlatenError KEY_CAPACITY; the database's duplicate-key error when a given secret is another key's.
   */
  async create(
    accountId: string,
    fields: NewKey,
    capacity = Number.POSITIVE_INFINITY,
  ): Promise<KeyWithSecret> {
    for (let tries = 0; tries < SEAT_TRIES; tries += 1) {
      const seat = await this.#freeSeat(accountId, capacity);
      const made = seat && (await this.#insert(accountId, fields, seat));
      if (made !== undefined) return made;
    }
    throw new PlatenError('UNAVAILABLE', 'Too many keys of this account are being made at the moment.', {
      retryAfterSeconds: 1,
    });
  }

  /**
   * Puts a new key in an active key's place and revokes that one. In between, for as long as one write takes, both work.
   *
   * @throws PlatenError NOT_FOUND when the account has no such active key.
   */
  async rotate(accountId: string, keyId: string): Promise<KeyWithSecret> {
    const old = await this.find(accountId, keyId);
    if (old?.status !== 'active') throw noActiveKey(keyId);
    const { name, mode, allowedIps, seat, generation } = old;
    const made = await this.#insert(
      accountId,
      { name, mode, allowedIps },
      { seat, generation: generation + 1 },
    );
    // Even without a new key: then another rotation has taken the place, and may have ended before this write.
    await this.#revoke(old);
    if (made === undefined) throw noActiveKey(keyId);
    return made;
  }

  /**
   * Revoking a key that is revoked already changes nothing.
   *
   * @returns the revoked key, and whether it was active until now.
   * @throws PlatenError NOT_FOUND when the account has no such key.
   */
  async revoke(accountId: string, keyId: string): Promise<{ key: ApiKey; changed: boolean }> {
    const key = await this.find(accountId, keyId);
    if (key === undefined) throw new PlatenError('NOT_FOUND', `There is no API key ${keyId}.`);
    const changed = await this.#revoke(key);
    return { key: (await this.find(accountId, keyId)) ?? key, changed };
  }

  async find(accountId: string, keyId: string): Promise<ApiKey | undefined> {
    const key = (await this.#model.findById(keyId).lean()) as ApiKey | null;
    return key?.accountId === accountId ? key : undefined;
  }

  async findBySecret(secret: string): Promise<ApiKey | undefined> {
    return ((await this.#model.findOne({ hash: hashSecret(secret) }).lean()) as ApiKey | null) ?? undefined;
  }

  /** Keys that were never used come last in `last_used_desc` and first in `last_used_asc`. */
  async list(accountId: string, query: KeyQuery): Promise<{ total: number; keys: ApiKey[] }> {
    const { status, mode, sort, limit, offset } = query;
    const filter = { accountId, ...(status && { status }), ...(mode && { mode }) };
    const direction = sort.endsWith('_desc') ? -1 : 1;
    const field = SORT_FIELDS[sort.replace(/_(asc|desc)$/, '') as keyof typeof SORT_FIELDS];
    const [total, keys] = await Promise.all([
      this.#model.countDocuments(filter),
      this.#model
        .find(filter)
        .sort({ [field]: direction, createdAt: direction, _id: direction })
        .skip(offset)
        .limit(limit)
        .lean(),
    ]);
    return { total, keys: keys as ApiKey[] };
  }

  /** Notes uses of keys, one per key; a later one that is known already stays. */
  async noteUses(uses: ReadonlyMap<string, KeyUse>): Promise<void> {
    await this.#model.collection.bulkWrite(
      [...uses].map(([keyId, { at, ip, geo }]) => ({
        // Documents compare by their first field first, and any of them is more than null.
        updateOne: { filter: { _id: keyId as never }, update: { $max: { lastUse: { at, ip, geo } } } },
      })),
      { ordered: false },
    );
  }

  /** The lowest seat that no active key sits in. @throws PlatenError KEY_CAPACITY. */
  async #freeSeat(accountId: string, capacity: number): Promise<Seat | undefined> {
    const active = (await this.#model
      .find({ accountId, status: 'active' }, { seat: 1 })
      .lean()) as unknown as Pick<ApiKey, 'seat'>[];
    const taken = new Set(active.map((key) => key.seat));
    if (taken.size >= capacity) {
      throw new PlatenError('KEY_CAPACITY', `The plan allows ${capacity} active API keys.`);
    }
    let seat = 0;
    while (taken.has(seat)) seat += 1;
    const last = (await this.#model
      .findOne({ accountId, seat }, { generation: 1, status: 1 })
      .sort({ generation: -1 })
      .lean()) as unknown as Pick<ApiKey, 'generation' | 'status'> | null;
    if (last?.status === 'active') return undefined;
    return { seat, generation: (last?.generation ?? 0) + 1 };
  }

  /** @returns undefined when another key has taken the seat. */
  async #insert(accountId: string, fields: NewKey, seat: Seat): Promise<KeyWithSecret | undefined> {
    const secret = fields.secret ?? newSecret(fields.mode);
    const key: ApiKey = {
      _id: randomUUID(),
      accountId,
      ...seat,
      name: fields.name,
      sortName: fields.name.toLowerCase(),
      prefix: prefixOf(secret),
      hash: hashSecret(secret),
      mode: fields.mode,
      status: 'active',
      allowedIps: fields.allowedIps,
      createdAt: this.#clock.now(),
      lastUse: null,
      revokedAt: null,
    };
    try {
      await this.#model.collection.insertOne(key as never);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if (fields.secret !== undefined && (await this.findBySecret(fields.secret)) !== undefined) throw error;
      return undefined;
    }
    this.#cache.forget(key.hash);
    return { key, secret };
  }

  async #revoke({ _id, hash }: ApiKey): Promise<boolean> {
    const { modifiedCount } = await this.#model.updateOne(
      { _id, status: 'active' },
      { $set: { status: 'revoked', revokedAt: this.#clock.now() } },
    );
    this.#cache.forget(hash);
    return modifiedCount > 0;
  }
}

type Seat = Pick<ApiKey, 'seat' | 'generation'>;

function noActiveKey(keyId: string): PlatenError {
  return new PlatenError('NOT_FOUND', `There is no active API key ${keyId}.`);
}
