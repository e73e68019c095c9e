import { type Connection, mongo } from 'mongoose';
import { type CollectionSpec, declareCollection } from './collection-spec.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { QueryGuard } from './query-guard.ts';
import type { Directions } from './query-shape.ts';

export type { CollectionSpec } from './collection-spec.ts';

type Filter<T> = mongo.Filter<T>;
/** Values for fields, typed as they are in the record, and for paths below them (`hours.9`), which are not. */
type Values<T> = mongo.MatchKeysAndValues<T>;
type Paths<V> = Readonly<Record<string, V>>;

/** A change to a record, with the operators that every supported database has. */
export interface Update<T> {
  readonly $set?: Values<T>;
  /** Takes effect when an upsert makes the record. */
  readonly $setOnInsert?: Values<T>;
  readonly $unset?: Paths<'' | 1 | true>;
  readonly $inc?: Paths<number>;
  readonly $max?: Values<T>;
  readonly $min?: Values<T>;
  readonly $push?: Paths<unknown>;
  readonly $addToSet?: Paths<unknown>;
  readonly $pull?: Paths<unknown>;
  readonly $pop?: Paths<1 | -1>;
}

export interface FindOptions {
  readonly sort?: Directions;
  readonly skip?: number;
  readonly limit?: number;
  /** Fields to return (1) or to leave out (0). */
  readonly projection?: Readonly<Record<string, 0 | 1>>;
}

/** Upserts that lose the race to insert are run again this often. */
const TRIES = 5;

/**
 * A collection as its owner sees it: the operations of the driver that every supported database has, typed by the
 * record, without mongoose's casting. Records are kept as they are written. A query that is neither led by an index nor
 * declared as an exception is refused, so a new one cannot slow the system down unseen.
 */
export class Collection<T extends { readonly _id: string }> {
  readonly #records: mongo.Collection<T>;
  readonly #guard: QueryGuard;

  /**
   * Declares the collection; `ensureIndexes` makes its indexes.
   *
   * @throws when the connection has another declaration of this name: a collection has one owner.
   */
  constructor(connection: Connection, spec: CollectionSpec) {
    declareCollection(connection, spec);
    // The one place that knows what mongoose hands out: the driver's own collection, typed for no record.
    this.#records = connection.collection(spec.name) as unknown as mongo.Collection<T>;
    this.#guard = new QueryGuard(spec);
  }

  async findById(id: string, projection?: FindOptions['projection']): Promise<T | undefined> {
    return this.findOne({ _id: id } as Filter<T>, { ...(projection && { projection }) });
  }

  async findOne(filter: Filter<T>, { sort, projection }: FindOptions = {}): Promise<T | undefined> {
    this.#guard.check(filter, sort);
    const found = await this.#records.findOne(filter, {
      ...(sort && { sort }),
      ...(projection && { projection }),
    });
    return (found as T | null) ?? undefined;
  }

  async find(filter: Filter<T>, options: FindOptions = {}): Promise<T[]> {
    this.#guard.check(filter, options.sort);
    return (await this.#records.find(filter, { ...options }).toArray()) as T[];
  }

  /** @throws what `isDuplicateKey` knows when a unique index refuses the record. */
  async insert(record: T): Promise<void> {
    await this.#records.insertOne(record as mongo.OptionalUnlessRequiredId<T>);
  }

  /** Inserts them in their order, up to the first that a unique index refuses. @throws as `insert` does. */
  async insertAll(records: readonly T[]): Promise<void> {
    if (records.length > 0) await this.#records.insertMany(records as mongo.OptionalUnlessRequiredId<T>[]);
  }

  /** @returns false when a unique index refuses the record. */
  async insertIfAbsent(record: T): Promise<boolean> {
    try {
      await this.insert(record);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Inserts those records that a unique index does not refuse. @returns false when it refuses any. */
  async insertAbsent(records: readonly T[]): Promise<boolean> {
    if (records.length === 0) return true;
    try {
      await this.#records.insertMany(records as mongo.OptionalUnlessRequiredId<T>[], { ordered: false });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** @returns whether a record matched. */
  async updateOne(filter: Filter<T>, update: Update<T>): Promise<boolean> {
    this.#guard.check(filter);
    return (await this.#records.updateOne(filter, sent(update))).matchedCount === 1;
  }

  /** @returns how many records matched. */
  async updateMany(filter: Filter<T>, update: Update<T>): Promise<number> {
    this.#guard.check(filter);
    return (await this.#records.updateMany(filter, sent(update))).matchedCount;
  }

  /** @returns the record, or the fields of it that are asked for, as it is afterwards; undefined when none matched. */
  async findOneAndUpdate(
    filter: Filter<T>,
    update: Update<T>,
    projection?: FindOptions['projection'],
  ): Promise<T | undefined> {
    this.#guard.check(filter);
    const found = await this.#records.findOneAndUpdate(filter, sent(update), {
      returnDocument: 'after',
      ...(projection && { projection }),
    });
    return (found as T | null) ?? undefined;
  }

  /**
   * Changes the record, or makes it when there is none with this id. Where the filter, which names the id, misses a
   * record that exists, the insert meets its id. That may also be a record that another has made just now, which the
   * filter does not miss: so it is asked once more, and that decides.
   *
   * @returns as of `findOneAndUpdate`; undefined when it exists and the filter misses it.
   */
  async upsertMatching(
    filter: Filter<T>,
    update: Update<T>,
    projection?: FindOptions['projection'],
  ): Promise<T | undefined> {
    this.#guard.check(filter);
    try {
      const found = await this.#records.findOneAndUpdate(filter, sent(update), {
        upsert: true,
        returnDocument: 'after',
        ...(projection && { projection }),
      });
      return (found as T | null) ?? undefined;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.findOneAndUpdate(filter, update, projection);
    }
  }

  /**
   * Changes the record with this id, or makes it. Two who make it at the same moment may both find it missing; MongoDB
   * repeats the loser's update by itself, and for servers that do not it is repeated here.
   *
   * @param options `writeConcern` other than the connection's, for what may be lost; `projection` for the fields of it
   * that are to be returned.
   */
  async upsert(
    id: string,
    update: Update<T>,
    options: { writeConcern?: mongo.WriteConcernSettings; projection?: FindOptions['projection'] } = {},
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        const found = await this.#records.findOneAndUpdate({ _id: id } as Filter<T>, sent(update), {
          ...options,
          upsert: true,
          returnDocument: 'after',
        });
        return found as T;
      } catch (error) {
        if (!isDuplicateKey(error) || tries === TRIES) throw error;
      }
    }
  }

  /** Changes those of the records that exist, each by its id, sent together and in no order. */
  async updateAll(changes: readonly { readonly id: string; readonly update: Update<T> }[]): Promise<void> {
    if (changes.length === 0) return;
    const operations = changes.map(({ id, update }) => ({
      updateOne: { filter: { _id: id } as Filter<T>, update: sent(update) },
    }));
    await this.#records.bulkWrite(operations, { ordered: false });
  }

  /** `upsert` for many records, sent together; none that went through is run twice. */
  async upsertAll(changes: readonly { readonly id: string; readonly update: Update<T> }[]): Promise<void> {
    let left = changes.map(({ id, update }) => ({
      updateOne: { filter: { _id: id } as Filter<T>, update: sent(update), upsert: true },
    }));
    for (let tries = 1; left.length > 0; tries += 1) {
      try {
        await this.#records.bulkWrite(left, { ordered: false });
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
    return (await this.#records.deleteOne(filter)).deletedCount === 1;
  }

  /** @returns how many records were deleted. */
  async deleteMany(filter: Filter<T>): Promise<number> {
    this.#guard.check(filter);
    return (await this.#records.deleteMany(filter)).deletedCount;
  }

  /** By the command of that name: what an index knows alone is counted there, which an aggregation is not everywhere. */
  async count(filter: Filter<T>): Promise<number> {
    this.#guard.check(filter);
    return this.#records.count(filter);
  }

  /** About how many records there are, known without reading any. */
  estimatedCount(): Promise<number> {
    return this.#records.estimatedDocumentCount();
  }

  /** Runs a pipeline over the records that match. */
  async aggregate<R extends mongo.Document>(
    match: Filter<T>,
    stages: readonly mongo.Document[],
  ): Promise<R[]> {
    this.#guard.check(match);
    return this.#records.aggregate<R>([{ $match: match }, ...stages]).toArray();
  }
}

/** The driver's own type looks for numbers and lists below a record's fields, where it cannot know them. */
function sent<T>(update: Update<T>): mongo.UpdateFilter<T> {
  return update as mongo.UpdateFilter<T>;
}
