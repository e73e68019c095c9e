import { randomUUID } from 'node:crypto';
import { type Connection, type Model, Schema } from 'mongoose';
import type { Clock } from '../clock.ts';
import { TtlCache } from '../memory/ttl-cache.ts';
import { hashSecret, type KeyMode, modeOf, newSecret, prefixOf } from './secret.ts';

export interface ApiKey {
  readonly _id: string;
  readonly accountId: string;
  readonly name: string;
  readonly prefix: string;
  /** Hex SHA-256 of the secret. */
  readonly hash: string;
  readonly mode: KeyMode;
  readonly status: 'active' | 'revoked';
  readonly allowedIps: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly lastUsedIp: string | null;
  readonly lastUsedGeo: string | null;
  readonly revokedAt: Date | null;
}

/** Revoking works everywhere within this time. */
const CACHE_MS = 800;
const CACHE_ENTRIES = 10_000;

/** Owns the API keys. */
export class KeyStore {
  readonly #model: Model<ApiKey>;
  readonly #clock: Clock;
  readonly #cache: TtlCache<string, ApiKey | undefined>;

  constructor(connection: Connection, clock: Clock) {
    const schema = new Schema(
      {
        _id: String,
        accountId: String,
        name: String,
        prefix: String,
        hash: String,
        mode: String,
        status: String,
        allowedIps: [String],
        createdAt: Date,
        lastUsedAt: Date,
        lastUsedIp: String,
        lastUsedGeo: String,
        revokedAt: Date,
      },
      { versionKey: false, autoIndex: false, autoCreate: false, collection: 'api_keys' },
    );
    schema.index({ hash: 1 }, { unique: true });
    schema.index({ accountId: 1, status: 1 });
    this.#model = connection.model<ApiKey>('ApiKey', schema as unknown as Schema<ApiKey>);
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
    return key?.status === 'active' ? key : undefined;
  }

  /**
   * @param secret a given one; otherwise one is made.
   * @returns the key and its secret, which is kept nowhere.
   * @throws the database's duplicate-key error when the secret is another key's.
   */
  async create(
    accountId: string,
    fields: { name: string; mode: KeyMode; allowedIps: readonly string[]; secret?: string },
  ): Promise<{ key: ApiKey; secret: string }> {
    const secret = fields.secret ?? newSecret(fields.mode);
    const key: ApiKey = {
      _id: randomUUID(),
      accountId,
      name: fields.name,
      prefix: prefixOf(secret),
      hash: hashSecret(secret),
      mode: fields.mode,
      status: 'active',
      allowedIps: fields.allowedIps,
      createdAt: this.#clock.now(),
      lastUsedAt: null,
      lastUsedIp: null,
      lastUsedGeo: null,
      revokedAt: null,
    };
    await this.#model.collection.insertOne(key as never);
    this.#cache.forget(key.hash);
    return { key, secret };
  }

  async findBySecret(secret: string): Promise<ApiKey | undefined> {
    return ((await this.#model.findOne({ hash: hashSecret(secret) }).lean()) as ApiKey | null) ?? undefined;
  }
}
