import { type Connection, mongo } from 'mongoose';
import type { Logger } from '../telemetry/logger.ts';
import { type CollectionSpec, declareCollection } from './collection-spec.ts';
import { loggerOf, watchOf } from './connection.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { QueryGuard } from './query-guard.ts';
import type { Directions } from './query-shape.ts';
import type { ResponseWatch } from './response-watch.ts';

export type { CollectionSpec } from './collection-spec.ts';

type Filter<T> = mongo.Filter<T>;
/** Values for fields, typed as in the record, and for paths below them (`hours.9`), which are not typed. */
type Values<T> = mongo.MatchKeysAndValues<T>;
type Paths<V> = Readonly<Record<string, V>>;

/** A change to a record, with the operators that every supported database has. */
export interface Update<T> {
  readonly $set?: Values<T>;
  /** Takes effect when an upsert inserts the record. */
  readonly $setOnInsert?: Values<T>;
  readonly $unset?: Paths<'' | 1 | true>;
  readonly $inc?: Paths<number>;
  readonly $rename?: Paths<string>;
  readonly $max?: Values<T>;
  readonly $min?: Values<T>;
  /** The server's own time, so that the clocks of processes do not matter. */
  readonly $currentDate?: Paths<true>;
  readonly $push?: Paths<unknown>;
  readonly $addToSet?: Paths<unknown>;
  readonly $pull?: Paths<unknown>;
  readonly $pop?: Paths<1 | -1>;
}

interface FindOptions {
  readonly sort?: Directions;
  readonly skip?: number;
  readonly limit?: number;
  /** Fields to return (1) or to leave out (0). */
  readonly projection?: Readonly<Record<string, 0 | 1>>;
}

/** For data of which the last writes may be lost with the server: a write waits for no other member, and for no disk. */
export const LOSABLE: mongo.WriteConcernSettings = { w: 1, j: false };

/** Records that `each` gets with one command. */
const EACH_AT_ONCE = 1000;
/** How often an upsert is repeated that has lost a race to insert. */
const TRIES = 5;

/**
 * A collection for its owner: the operations of the driver that every supported database has, typed by the record,
 * without mongoose's casting. Records are stored as they are written. A query without an index is rejected unless it is
 * declared as an exception, so that no new query slows the system down unnoticed.
 */
export class Collection<T extends { readonly _id: string }> {
  readonly #records: mongo.Collection<T>;
  readonly #guard: QueryGuard;
  readonly #watch: ResponseWatch;
  /** What is read without a projection; undefined for all fields. */
  readonly #usual: FindOptions['projection'];
  /** For what the owner finds out about its records. */
  readonly logger: Pick<Logger, 'warn'> | undefined;

  /** @throws when the connection has another declaration of this name: a collection has one owner. */
  constructor(connection: Connection, spec: CollectionSpec) {
    declareCollection(connection, spec);
    // The only code that uses what mongoose returns: the driver's own collection, without a type for its records.
    this.#records = connection.collection(spec.name) as unknown as mongo.Collection<T>;
    this.#guard = new QueryGuard(spec);
    this.#watch = watchOf(connection);
    this.#usual = spec.large && Object.fromEntries(spec.large.map((field) => [field, 0]));
    this.logger = loggerOf(connection);
  }

  async findById(id: string, projection?: FindOptions['projection']): Promise<T | undefined> {
    return this.findOne({ _id: id } as Filter<T>, { ...(projection && { projection }) });
  }

  async findOne(filter: Filter<T>, { sort, projection }: FindOptions = {}): Promise<T | undefined> {
    this.#guard.check(filter, sort);
    const found = await this.#watch.run(() =>
      this.#records.findOne(filter, { ...(sort && { sort }), ...this.#projected(projection) }),
    );
    return (found as T | null) ?? undefined;
  }

  async find(filter: Filter<T>, options: FindOptions = {}): Promise<T[]> {
    this.#guard.check(filter, options.sort);
    const sent = { ...options, ...this.#projected(options.projection) };
    return (await this.#watch.run(() => this.#records.find(filter, sent).toArray())) as T[];
  }

  /** The same one record after the other, of which few are in memory at a time. */
  async each(filter: Filter<T>, options: FindOptions, visit: (record: T) => void): Promise<void> {
    this.#guard.check(filter, options.sort);
    const sent = { ...options, ...this.#projected(options.projection), batchSize: EACH_AT_ONCE };
    await this.#watch.run(async () => {
      for await (const record of this.#records.find(filter, sent)) visit(record as T);
    });
  }

  /** @throws an error for `isDuplicateKey` when a unique index rejects the record. */
  async insert(record: T): Promise<void> {
    await this.#watch.run(() => this.#records.insertOne(record as mongo.OptionalUnlessRequiredId<T>));
  }

  /** Inserts records in their order, up to the first one that a unique index rejects. @throws as `insert` does. */
  async insertAll(records: readonly T[]): Promise<void> {
    if (records.length > 0) await this.#insertMany(records, { ordered: true });
  }

  /** @returns false when a unique index rejects the record. */
  async insertIfAbsent(record: T): Promise<boolean> {
    try {
      await this.insert(record);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /**
   * Inserts the records that no unique index rejects.
   *
   * @param writeConcern instead of the connection's, for data that may be lost.
   * @returns false when any is rejected.
   */
  async insertAbsent(records: readonly T[], writeConcern?: mongo.WriteConcernSettings): Promise<boolean> {
    if (records.length === 0) return true;
    try {
      await this.#insertMany(records, { ordered: false, ...(writeConcern && { writeConcern }) });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** @returns whether a record matched. */
  async updateOne(filter: Filter<T>, update: Update<T>): Promise<boolean> {
    this.#guard.check(filter);
    return (await this.#watch.run(() => this.#records.updateOne(filter, sent(update)))).matchedCount === 1;
  }

  /** @returns the number of matching records. */
  async updateMany(filter: Filter<T>, update: Update<T>): Promise<number> {
    this.#guard.check(filter);
    return (await this.#watch.run(() => this.#records.updateMany(filter, sent(update)))).matchedCount;
  }

  /** @returns the updated record or its projected fields; undefined when none matched. */
  async findOneAndUpdate(
    filter: Filter<T>,
    update: Update<T>,
    projection?: FindOptions['projection'],
  ): Promise<T | undefined> {
    this.#guard.check(filter);
    return this.#findOneAndUpdate(filter, update, { ...(projection && { projection }) });
  }

  /**
   * Updates the record, or inserts it when none has this id. The filter names the id: if it does not match an existing
   * record, the insert fails because of the id. The same happens when another process has just inserted a matching
   * record. So the update is then run once more without an insert.
   *
   * @returns as `findOneAndUpdate`; undefined when the record exists and the filter does not match it.
   */
  async upsertMatching(
    filter: Filter<T>,
    update: Update<T>,
    projection?: FindOptions['projection'],
  ): Promise<T | undefined> {
    this.#guard.check(filter);
    try {
      return await this.#findOneAndUpdate(filter, update, {
        upsert: true,
        ...(projection && { projection }),
      });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.findOneAndUpdate(filter, update, projection);
    }
  }

  /**
   * Updates the record with this id, or inserts it. Two processes may find it missing at the same time. MongoDB then
   * repeats the update that lost; for servers that do not, it is repeated here.
   *
   * @param options `writeConcern` instead of the connection's, for data that may be lost; `projection` for the fields
   * to be returned.
   */
  async upsert(
    id: string,
    update: Update<T>,
    options: { writeConcern?: mongo.WriteConcernSettings; projection?: FindOptions['projection'] } = {},
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        const byId = { _id: id } as Filter<T>;
        return (await this.#findOneAndUpdate(byId, update, { ...options, upsert: true })) as T;
      } catch (error) {
        if (!isDuplicateKey(error) || tries === TRIES) throw error;
      }
    }
  }

  /** Updates the existing records among these ids, sent together and in no particular order. */
  async updateAll(changes: readonly { readonly id: string; readonly update: Update<T> }[]): Promise<void> {
    if (changes.length === 0) return;
    const operations = changes.map(({ id, update }) => ({
      updateOne: { filter: { _id: id } as Filter<T>, update: sent(update) },
    }));
    await this.#watch.run(() => this.#records.bulkWrite(operations, { ordered: false }));
  }

  /** `upsert` for many records, sent together; only failed upserts are repeated. @param writeConcern as of `upsert`. */
  async upsertAll(
    changes: readonly { readonly id: string; readonly update: Update<T> }[],
    writeConcern?: mongo.WriteConcernSettings,
  ): Promise<void> {
    let left = changes.map(({ id, update }) => ({
      updateOne: { filter: { _id: id } as Filter<T>, update: sent(update), upsert: true },
    }));
    const options = { ordered: false, ...(writeConcern && { writeConcern }) };
    for (let tries = 1; left.length > 0; tries += 1) {
      try {
        await this.#watch.run(() => this.#records.bulkWrite(left, options));
        return;
      } catch (error) {
        if (!(error instanceof mongo.MongoBulkWriteError) || !isDuplicateKey(error) || tries === TRIES)
          throw error;
        const lost = [error.writeErrors].flat();
        left = lost.map(({ index }) => left[index]!);
      }
    }
  }

  /** @returns whether a record was deleted. */
  async deleteOne(filter: Filter<T>): Promise<boolean> {
    this.#guard.check(filter);
    return (await this.#watch.run(() => this.#records.deleteOne(filter))).deletedCount === 1;
  }

  /** @returns the number of deleted records. */
  async deleteMany(filter: Filter<T>): Promise<number> {
    this.#guard.check(filter);
    return (await this.#watch.run(() => this.#records.deleteMany(filter))).deletedCount;
  }

  /** By the `count` command: it counts in the index alone, while an aggregation on some servers does not. */
  async count(filter: Filter<T>): Promise<number> {
    this.#guard.check(filter);
    return this.#watch.run(() => this.#records.count(filter));
  }

  /** The approximate number of records, without reading any. */
  estimatedCount(): Promise<number> {
    return this.#watch.run(() => this.#records.estimatedDocumentCount());
  }

  /** Runs a pipeline over the matching records. */
  async aggregate<R extends mongo.Document>(
    match: Filter<T>,
    stages: readonly mongo.Document[],
  ): Promise<R[]> {
    this.#guard.check(match);
    return this.#watch.run(() => this.#records.aggregate<R>([{ $match: match }, ...stages]).toArray());
  }

  async #insertMany(records: readonly T[], options: mongo.BulkWriteOptions): Promise<void> {
    const sent = records as mongo.OptionalUnlessRequiredId<T>[];
    await this.#watch.run(() => this.#records.insertMany(sent, options));
  }

  #projected(projection = this.#usual): Pick<FindOptions, 'projection'> {
    return { ...(projection && { projection }) };
  }

  async #findOneAndUpdate(
    filter: Filter<T>,
    update: Update<T>,
    options: mongo.FindOneAndUpdateOptions,
  ): Promise<T | undefined> {
    const found = await this.#watch.run(() =>
      this.#records.findOneAndUpdate(filter, sent(update), {
        ...options,
        ...this.#projected(options.projection as FindOptions['projection']),
        returnDocument: 'after',
      }),
    );
    return (found as T | null) ?? undefined;
  }
}

/** The driver's type requires the types of numbers and lists below a record's fields, which are not known for `T`. */
function sent<T>(update: Update<T>): mongo.UpdateFilter<T> {
  return update as mongo.UpdateFilter<T>;
}
