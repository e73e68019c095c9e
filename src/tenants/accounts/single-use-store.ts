import { randomBytes } from 'node:crypto';
import type { Connection, mongo } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { Collection } from '../../infra/store/collection.ts';
import type { CollectionSpec } from '../../infra/store/collection-spec.ts';

/** A right that the holder of its secret may use once. */
export interface SingleUse {
  /** Hex SHA-256 of its secret. */
  readonly _id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Declares a collection of such rights. A connection has one declaration of a name, however many stores it has. */
export function singleUseSpec(name: string, account: CollectionSpec['account']): CollectionSpec {
  const ofAccount = { fields: { accountId: 1, _id: 1 }, unique: 'embedded' } as const;
  const indexes = [{ fields: { expiresAt: 1 } }, ...(account === 'accountId' ? [ofAccount] : [])] as const;
  return { name, account, indexes };
}

/** Owns rights to do something once. Their secrets are not stored. */
export class SingleUseStore<T extends SingleUse> {
  protected readonly records: Collection<T>;
  protected readonly clock: Clock;
  readonly #secretBytes: number;

  /** To be created before the connection's indexes. @param spec of the collection, by `singleUseSpec`. */
  constructor(connection: Connection, clock: Clock, spec: CollectionSpec, secretBytes: number) {
    this.records = new Collection(connection, spec);
    this.clock = clock;
    this.#secretBytes = secretBytes;
  }

  /** @param lifeMs how long the right can be used, in milliseconds. */
  async create(fields: Omit<T, keyof SingleUse>, lifeMs: number): Promise<{ secret: string; record: T }> {
    const secret = randomBytes(this.#secretBytes).toString('base64url');
    const createdAt = this.clock.now();
    const expiresAt = new Date(createdAt.getTime() + lifeMs);
    const record = { ...fields, _id: hashSecret(secret), createdAt, expiresAt } as T;
    await this.records.insert(record);
    return { secret, record };
  }

  /** A right that is not used up by this. @returns undefined when no valid right that `matches` has this secret. */
  async read(secret: string, matches: (record: T) => boolean = () => true): Promise<T | undefined> {
    const record = await this.records.findById(hashSecret(secret));
    return record !== undefined && matches(record) && record.expiresAt > this.clock.now()
      ? record
      : undefined;
  }

  /** Uses a right up. @returns undefined when no valid right that `matches` has this secret. */
  async take(secret: string, matches?: (record: T) => boolean): Promise<T | undefined> {
    const record = await this.read(secret, matches);
    if (record === undefined) return undefined;
    // When two requests take it concurrently, only one of them deletes it.
    return (await this.records.deleteOne({ _id: record._id } as mongo.Filter<T>)) ? record : undefined;
  }

  /** @returns the number of deleted records. */
  deleteExpired(now: Date): Promise<number> {
    return this.records.deleteMany({ expiresAt: { $lte: now } } as mongo.Filter<T>);
  }
}
