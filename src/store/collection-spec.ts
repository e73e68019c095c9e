import { type Connection, mongo } from 'mongoose';
import type { Directions } from './query-shape.ts';

/** An index: its fields in order, and whether they rise (1) or fall (-1). */
export interface Index {
  readonly fields: Directions;
  readonly unique?: true;
  /** Holds only the records that have the fields. */
  readonly sparse?: true;
}

/** What is declared of a collection, next to the code that owns it. */
export interface CollectionSpec {
  readonly name: string;
  /** Besides the one on `_id`. */
  readonly indexes?: readonly Index[];
  /** Fields of indexes that an older version made, and that no query needs beside those above. */
  readonly replaced?: readonly Directions[];
  /**
   * What queries ask for besides what their index gives: fields that are simply compared, and `sort a, b` for an order
   * that is made by hand, among the few records that the index leads to.
   */
  readonly filtersBy?: { readonly fields: readonly string[]; readonly reason: string };
  /** Queries that read the whole collection, as `nameOf` writes them, each with the reason why that is little. */
  readonly scans?: Readonly<Record<string, string>>;
}

/** What was declared over each connection, by the collections' names. */
const declared = new WeakMap<Connection, Map<string, CollectionSpec>>();

/** @throws when the connection has another declaration of this name: a collection has one owner. */
export function declareCollection(connection: Connection, spec: CollectionSpec): void {
  const others = declared.get(connection) ?? new Map<string, CollectionSpec>();
  if ((others.get(spec.name) ?? spec) !== spec) throw new Error(`${spec.name} is declared twice.`);
  declared.set(connection, others.set(spec.name, spec));
}

/** The fields of all indexes of a collection, the one on `_id` among them. */
export function indexedFields({ indexes = [] }: CollectionSpec): readonly Directions[] {
  return [{ _id: 1 }, ...indexes.map(({ fields }) => fields)];
}

/** The collections that were declared over a connection, in that order. */
export function declaredCollections(connection: Connection): readonly CollectionSpec[] {
  return [...(declared.get(connection)?.values() ?? [])];
}

/**
 * What MongoDB answers when there is no such collection, or no such index, and up to version 5.1 while another index of the
 * collection is being built: then the next start drops it.
 */
const LEFT: ReadonlySet<unknown> = new Set([26, 27, 12_587]);

/**
 * Creates every declared index that is missing, and then drops what it replaces; doing it again, or in several processes at
 * once, changes nothing. MongoDB builds an index while others read and write the collection. A process that starts waits
 * for it: without it, each query would read all.
 */
export async function ensureIndexes(connection: Connection): Promise<void> {
  for (const { name, indexes = [], replaced = [] } of declaredCollections(connection)) {
    const collection = connection.collection(name);
    for (const { fields, ...options } of indexes) await collection.createIndex(fields, options);
    for (const fields of replaced) await dropIfThere(connection, name, fields);
  }
}

/** By its fields: by a name, the embedded server would drop those of all collections. */
async function dropIfThere(connection: Connection, collection: string, fields: Directions): Promise<void> {
  try {
    await connection.db!.command({ dropIndexes: collection, index: fields });
  } catch (error) {
    if (!(error instanceof mongo.MongoServerError && LEFT.has(error.code))) throw error;
  }
}
