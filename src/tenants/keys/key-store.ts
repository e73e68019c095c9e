import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { TtlCache } from '../../infra/async/ttl-cache.ts';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { isDuplicateKey } from '../../infra/store/duplicate-key.ts';
import { isSameHash, type KeyMode, modeOf, newSecret, prefixOf } from './secret.ts';

export const KEY_STATUSES = ['active', 'revoked'] as const;
type KeyStatus = (typeof KEY_STATUSES)[number];

/** The last recorded use. It is one value, so that a single update can keep the latest. */
export interface KeyUse {
  readonly at: Date;
  readonly ip: string | null;
  /** A country's name. */
  readonly geo: string | null;
}

/** An API key, without its secret. */
export interface ApiKey {
  readonly _id: string;
  readonly accountId: string;
  readonly name: string;
  readonly prefix: string;
  /** Hex SHA-256 of the secret. */
  readonly hash: string;
  readonly mode: KeyMode;
  readonly status: KeyStatus;
  readonly allowedIps: readonly string[];
  readonly createdAt: Date;
  readonly lastUse: KeyUse | null;
  readonly revokedAt: Date | null;
  /** Of the account when the key was made; absent for 0. A key of a lower fence than the account's is not valid. */
  readonly ownerFence?: number;
  /** The person who made it; absent for keys that the operator made, and for keys from before there were members. */
  readonly createdBy?: string;
}

/**
 * A key as it is stored. Active keys of an account are numbered from 0, and each key that takes a number over is its
 * next generation. Number and generation together are unique, so the database rejects one of two concurrent inserts of
 * the same number. A new key takes the lowest free number, so that concurrent inserts compete for the same number and
 * the plan's capacity is exact. A rotated key's replacement takes the number over before the old key is revoked, so
 * that no other key can take it in between. See docs/decisions/0011-key-numbers.md.
 */
interface KeyRecord extends ApiKey {
  /** The key's number, under the name that stored data have. */
  readonly number: number;
  readonly generation: number;
  /** The name in lower case, to sort by. */
  readonly sortName: string;
  /** The caller gave the secret. The record is never deleted: given again, it cannot revive a revoked key. */
  readonly given?: true;
}

export interface NewKey {
  readonly name: string;
  readonly mode: KeyMode;
  /** In the form of `normaliseAllowedIp`. */
  readonly allowedIps: readonly string[];
  /** A given secret. Default: a generated one. */
  readonly secret?: string;
  /** As in an `ApiKey`. */
  readonly ownerFence?: number | undefined;
  /** As in an `ApiKey`. */
  readonly createdBy?: string | undefined;
}

/** The fields of a key that can be changed; an absent field stays as it is. */
export type KeyChange = Partial<Pick<NewKey, 'name' | 'allowedIps'>>;

/** A key and its secret, which is never stored. */
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

interface KeyQuery {
  readonly status?: KeyStatus | undefined;
  readonly mode?: KeyMode | undefined;
  readonly sort: (typeof KEY_SORTS)[number];
  readonly limit: number;
  readonly offset: number;
}

/** A change of a key is in force in every process within this time, in milliseconds. */
const CACHE_MS = 800;
const CACHE_ENTRIES = 10_000;
/**
 * The latest generations of a number that are kept, besides the first. Without this bound, a script that keeps rotating
 * a key would make the list of keys, and the time to read it, grow without limit.
 */
const KEPT_GENERATIONS = 10;
/** Attempts to take a number while concurrent requests take the same ones. */
const NUMBER_TRIES = 100;

const SORT_FIELDS = { last_used: 'lastUse.at', created: 'createdAt', name: 'sortName' } as const;

const KEYS: CollectionSpec = {
  name: 'api_keys',
  account: 'accountId',
  indexes: [
    { fields: { hash: 1 }, unique: true },
    { fields: { accountId: 1, number: 1, generation: 1 }, unique: true },
    { fields: { accountId: 1, status: 1 } },
  ],
  filtersBy: {
    fields: [
      'mode',
      'status',
      'given',
      'sort lastUse.at, createdAt, _id',
      'sort createdAt, _id',
      'sort sortName, createdAt, _id',
    ],
    reason: 'an account has as many active keys as its plan allows, and a bounded number of revoked ones',
  },
};

/** Owns the API keys. Changes go through the `KeyService`, which records them. */
export class KeyStore {
  readonly #keys: Collection<KeyRecord>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, ApiKey | undefined>;

  constructor(connection: Connection, clock: Clock) {
    this.#keys = new Collection(connection, KEYS);
    this.#clock = clock;
    this.#cache = new TtlCache(CACHE_MS, CACHE_ENTRIES, clock);
  }

  /** The active key with this secret, at most CACHE_MS old. */
  async authenticate(secret: string): Promise<ApiKey | undefined> {
    if (modeOf(secret) === undefined) return undefined;
    const hash = hashSecret(secret);
    const key = await this.#cache.get(hash, () => this.#keys.findOne({ hash }));
    // The index does not compare in constant time, but a caller cannot choose a hash; the deciding comparison is
    // constant-time.
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
    for (let tries = 0; tries < NUMBER_TRIES; tries += 1) {
      const numbered = await this.#freeNumber(accountId, capacity);
      const made = numbered && (await this.#insert(accountId, fields, numbered));
      if (made !== undefined) return made;
    }
    throw new PlatenError('UNAVAILABLE', 'Too many keys of this account are being made at the moment.', {
      retryAfterSeconds: 1,
    });
  }

  /** While one write lasts, both keys are valid. @throws PlatenError NOT_FOUND without such an active key. */
  async rotate(accountId: string, keyId: string, createdBy?: string): Promise<KeyWithSecret> {
    const old = await this.#find(accountId, keyId);
    if (old?.status !== 'active') throw noActiveKey(keyId);
    const { name, mode, allowedIps, number, generation, ownerFence } = old;
    const made = await this.#insert(
      accountId,
      { name, mode, allowedIps, ownerFence, createdBy },
      { number, generation: generation + 1 },
    );
    // Also without a new key: another rotation has then taken the number over, and may have died before revoking the
    // old key.
    await this.#revoke(old);
    if (made === undefined) throw noActiveKey(keyId);
    return made;
  }

  /** In force in every process within CACHE_MS. @throws PlatenError NOT_FOUND without such an active key. */
  async change(accountId: string, keyId: string, change: KeyChange): Promise<ApiKey> {
    const { name, allowedIps } = change;
    const set = {
      ...(name !== undefined && { name, sortName: name.toLowerCase() }),
      ...(allowedIps !== undefined && { allowedIps }),
    };
    const active = { _id: keyId, accountId, status: 'active' } as const;
    const key = await this.#keys.findOneAndUpdate(active, { $set: set });
    if (key === undefined) throw noActiveKey(keyId);
    this.#cache.forget(key.hash);
    return key;
  }

  /**
   * Revokes a key. Revoking it again changes nothing.
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

  find(accountId: string, keyId: string): Promise<ApiKey | undefined> {
    return this.#find(accountId, keyId);
  }

  findBySecret(secret: string): Promise<ApiKey | undefined> {
    return this.#keys.findOne({ hash: hashSecret(secret) });
  }

  /** Keys that were never used come last in `last_used_desc` and first in `last_used_asc`. */
  async list(accountId: string, query: KeyQuery): Promise<{ total: number; keys: ApiKey[] }> {
    const { status, mode, sort, limit, offset } = query;
    const filter = { accountId, ...(status && { status }), ...(mode && { mode }) };
    const direction = sort.endsWith('_desc') ? -1 : 1;
    const field = SORT_FIELDS[sort.replace(/_(asc|desc)$/, '') as keyof typeof SORT_FIELDS];
    const [total, keys] = await Promise.all([
      this.#keys.count(filter),
      this.#keys.find(filter, {
        sort: { [field]: direction, createdAt: direction, _id: direction },
        skip: offset,
        limit,
      }),
    ]);
    return { total, keys };
  }

  async countActive(accountId: string): Promise<number> {
    return this.#keys.count({ accountId, status: 'active' });
  }

  /** The prefixes of these keys by id; deleted keys are left out. */
  async prefixes(keyIds: readonly string[]): Promise<Map<string, string>> {
    if (keyIds.length === 0) return new Map();
    const keys = await this.#keys.find({ _id: { $in: [...keyIds] } }, { projection: { prefix: 1 } });
    return new Map(keys.map(({ _id, prefix }) => [_id, prefix]));
  }

  /** Records the last uses of keys; a stored later use stays. */
  async noteUses(uses: ReadonlyMap<string, KeyUse>): Promise<void> {
    await this.#keys.updateAll(
      // The database compares documents by their first field, `at`, and orders any document after null.
      [...uses].map(([id, { at, ip, geo }]) => ({ id, update: { $max: { lastUse: { at, ip, geo } } } })),
    );
  }

  async #find(accountId: string, keyId: string): Promise<KeyRecord | undefined> {
    const key = await this.#keys.findById(keyId);
    return key?.accountId === accountId ? key : undefined;
  }

  /** The lowest number that no active key has. @throws PlatenError KEY_CAPACITY. */
  async #freeNumber(accountId: string, capacity: number): Promise<Numbered | undefined> {
    const active = await this.#keys.find({ accountId, status: 'active' }, { projection: { number: 1 } });
    const taken = new Set(active.map((key) => key.number));
    if (taken.size >= capacity) {
      throw new PlatenError('KEY_CAPACITY', `The plan allows ${capacity} active API keys.`);
    }
    let number = 0;
    while (taken.has(number)) number += 1;
    const last = await this.#keys.findOne(
      { accountId, number },
      { sort: { generation: -1 }, projection: { generation: 1, status: 1 } },
    );
    if (last?.status === 'active') return undefined;
    return { number, generation: (last?.generation ?? 0) + 1 };
  }

  /** @returns undefined when another key has taken the number. */
  async #insert(accountId: string, fields: NewKey, numbered: Numbered): Promise<KeyWithSecret | undefined> {
    const secret = fields.secret ?? newSecret(fields.mode);
    const key: KeyRecord = {
      _id: randomUUID(),
      accountId,
      ...numbered,
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
      ...(fields.secret !== undefined && { given: true }),
      ...(fields.ownerFence !== undefined && { ownerFence: fields.ownerFence }),
      ...(fields.createdBy !== undefined && { createdBy: fields.createdBy }),
    };
    try {
      await this.#keys.insert(key);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if (fields.secret !== undefined && (await this.findBySecret(fields.secret)) !== undefined) throw error;
      return undefined;
    }
    this.#cache.forget(key.hash);
    await this.#forgetBefore(key);
    return { key, secret };
  }

  /** Deletes the oldest generations of this key's number; the first may be a key whose secret was given. */
  async #forgetBefore({ accountId, number, generation }: KeyRecord): Promise<void> {
    const last = generation - KEPT_GENERATIONS;
    if (last <= 1) return;
    const before = { accountId, number, generation: { $gt: 1, $lte: last } };
    await this.#keys.deleteMany({ ...before, status: 'revoked', given: { $exists: false } });
  }

  async #revoke({ _id, hash }: ApiKey): Promise<boolean> {
    const changed = await this.#keys.updateOne(
      { _id, status: 'active' },
      { $set: { status: 'revoked', revokedAt: this.#clock.now() } },
    );
    this.#cache.forget(hash);
    return changed;
  }
}

/** Read access to keys; changes go through the `KeyService`. */
export type KeyReader = Pick<
  KeyStore,
  'authenticate' | 'countActive' | 'find' | 'findBySecret' | 'list' | 'prefixes'
>;

type Numbered = Pick<KeyRecord, 'number' | 'generation'>;

function noActiveKey(keyId: string): PlatenError {
  return new PlatenError('NOT_FOUND', `There is no active API key ${keyId}.`);
}
