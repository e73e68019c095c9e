import { type Connection, mongo } from 'mongoose';
import { isDuplicateKey } from './duplicate-key.ts';
import { beyondIndex, type Directions, nameOf, shapeOf } from './query-shape.ts';

/** An index: its fields in order, and whether they rise (1) or fall (-1). */
export interface Index {
  readonly fields: Directions;
  readonly unique?: true;
  /** Holds only the records that have the fields. */
  readonly sparse?: true;
}

/** What is declared of a collection, beside the code that owns it. */
export interface CollectionSpec {
  readonly name: string;
  /** Besides the one on `_id`. */
  readonly indexes?: readonly Index[];
  /**
   * What queries ask for besides what their index gives: fields that are simply looked at, and `sort a, b` for an order
   * that is made by hand, among the few records that the index leads to.
   */
  readonly looksAt?: { readonly asked: readonly string[]; readonly because: string };
  /** Queries that read the whole collection, as `nameOf` writes them, each with the reason why that is little. */
  readonly scans?: Readonly<Record<string, string>>;
}

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
  /** Fields to answer with (1) or to leave out (0). */
  readonly projection?: Readonly<Record<string, 0 | 1>>;
}

/** Upserts that lose the race to insert are run again this often. */
const TRIES = 5;

/** A query that would read far more than it answers with. */
export class UnindexedQuery extends Error {
  constructor(collection: string, query: string, why: string) {
    super(`Query of ${collection}: ${query}: ${why}. Declare an index for it, or why it reads little.`);
    this.name = 'UnindexedQuery';
  }
}

/** What was declared over each connection, by the collections' names. */
const declared = new WeakMap<Connection, Map<string, CollectionSpec>>();

/** The fields of all indexes of a collection, the one on `_id` among them. */
export function indexedFields({ indexes = [] }: CollectionSpec): readonly Directions[] {
  return [{ _id: 1 }, ...indexes.map(({ fields }) => fields)];
}

/** The collections that were declared over a connection, in that order. */
export function declaredCollections(connection: Connection): readonly CollectionSpec[] {
  return [...(declared.get(connection)?.values() ?? [])];
}

/** Creates the indexes of declared collections; doing it again, or in several processes at once, changes nothing. */
export async function ensureDeclaredIndexes(connection: Connection): Promise<void> {
  for (const { name, indexes = [] } of declaredCollections(connection)) {
    for (const { fields, ...options } of indexes)
      await connection.collection(name).createIndex(fields, options);
  }
}

/**
 * A collection as its owner sees it: the operations of the driver that every supported database has, typed by the
 * record, without mongoose's casting. Records are kept as they are written. A query that is neither led by an index nor
 * declared as an exception is refused, so a new one cannot slow the system down unseen.
 */
export class Collection<T extends { readonly _id: string }> {
  readonly #records: mongo.Collection<T>;
  readonly #spec: CollectionSpec;
  readonly #allowed = new Set<string>();

  /**
   * Declares the collection; `ensureIndexes` makes its indexes.
   *
   * @throws when the connection has another declaration of this name: a collection has one owner.
   */
  constructor(connection: Connection, spec: CollectionSpec) {
    const others = declared.get(connection) ?? new Map<string, CollectionSpec>();
    if ((others.get(spec.name) ?? spec) !== spec) throw new Error(`${spec.name} is declared twice.`);
    declared.set(connection, others.set(spec.name, spec));
    // The one place that knows what mongoose hands out: the driver's own collection, typed for no record.
    this.#records = connection.collection(spec.name) as unknown as mongo.Collection<T>;
    this.#spec = spec;
  }

  async findById(id: string, projection?: FindOptions['projection']): Promise<T | undefined> {
    return this.findOne({ _id: id } as Filter<T>, { ...(projection && { projection }) });
  }

  async findOne(filter: Filter<T>, { sort, projection }: FindOptions = {}): Promise<T | undefined> {
    this.#check(filter, sort);
    const found = await this.#records.findOne(filter, {
      ...(sort && { sort }),
      ...(projection && { projection }),
    });
    return (found as T | null) ?? undefined;
  }

  async find(filter: Filter<T>, options: FindOptions = {}): Promise<T[]> {
    this.#check(filter, options.sort);
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

  /** Inserts those records that a unique index does not refuse. */
  async insertAbsent(records: readonly T[]): Promise<void> {
    if (records.length === 0) return;
    try {
      await this.#records.insertMany(records as mongo.OptionalUnlessRequiredId<T>[], { ordered: false });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** @returns whether a record matched. */
  async updateOne(filter: Filter<T>, update: Update<T>): Promise<boolean> {
    this.#check(filter);
    return (await this.#records.updateOne(filter, sent(update))).matchedCount === 1;
  }

  /** @returns how many records matched. */
  async updateMany(filter: Filter<T>, update: Update<T>): Promise<number> {
    this.#check(filter);
    return (await this.#records.updateMany(filter, sent(update))).matchedCount;
  }

  /** @returns the record as it is afterwards; undefined when none matched. */
  async findOneAndUpdate(filter: Filter<T>, update: Update<T>): Promise<T | undefined> {
    this.#check(filter);
    const found = await this.#records.findOneAndUpdate(filter, sent(update), { returnDocument: 'after' });
    return (found as T | null) ?? undefined;
  }

  /**
   * Changes the record, or makes it when there is none with this id. Where the filter, which names the id, misses a
   * record that exists, the insert meets its id. That may also be a record that another has made just now, which the
   * filter does not miss: so it is asked once more, and that is the answer.
   *
   * @returns the record as it is afterwards; undefined when it exists and the filter misses it.
   */
  async upsertMatching(filter: Filter<T>, update: Update<T>): Promise<T | undefined> {
    this.#check(filter);
    try {
      const found = await this.#records.findOneAndUpdate(filter, sent(update), {
        upsert: true,
        returnDocument: 'after',
      });
      return (found as T | null) ?? undefined;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.findOneAndUpdate(filter, update);
    }
  }

  /**
   * Changes the record with this id, or makes it. Two who make it at the same moment may both find it missing; MongoDB
   * repeats the loser's update by itself, and for servers that do not it is repeated here.
   *
   * @param options `writeConcern` other than the connection's, for what may be lost.
   */
  async upsert(
    id: string,
    update: Update<T>,
    options: { writeConcern?: mongo.WriteConcernSettings } = {},
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
    this.#check(filter);
    return (await this.#records.deleteOne(filter)).deletedCount === 1;
  }

  /** @returns how many records were deleted. */
  async deleteMany(filter: Filter<T>): Promise<number> {
    this.#check(filter);
    return (await this.#records.deleteMany(filter)).deletedCount;
  }

  async count(filter: Filter<T>): Promise<number> {
    this.#check(filter);
    return this.#records.countDocuments(filter);
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
    this.#check(match);
    return this.#records.aggregate<R>([{ $match: match }, ...stages]).toArray();
  }

  /** @throws UnindexedQuery */
  #check(filter: Filter<T>, sort?: Directions): void {
    const shape = shapeOf(filter, sort);
    if (shape.filter._id === 'one') return;
    const name = nameOf(shape);
    if (this.#allowed.has(name)) return;
    const { looksAt, scans = {} } = this.#spec;
    if (!(name in scans)) {
      const beyond = beyondIndex(shape, indexedFields(this.#spec));
      if (beyond === undefined) throw new UnindexedQuery(this.#spec.name, name, 'no index leads it');
      const unexplained = beyond.filter((asked) => !looksAt?.asked.includes(asked));
      if (unexplained.length > 0) {
        throw new UnindexedQuery(this.#spec.name, name, `not in its index: ${unexplained.join(', ')}`);
      }
    }
    this.#allowed.add(name);
  }
}

/** The driver's own type looks for numbers and lists below a record's fields, where it cannot know them. */
function sent<T>(update: Update<T>): mongo.UpdateFilter<T> {
  return update as mongo.UpdateFilter<T>;
}
