import type { Connection } from 'mongoose';
import type { Directions } from './query-shape.ts';

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

/** Creates every declared index that is missing; doing it again, or in several processes at once, changes nothing. */
export async function ensureIndexes(connection: Connection): Promise<void> {
  for (const { name, indexes = [] } of declaredCollections(connection)) {
    for (const { fields, ...options } of indexes)
      await connection.collection(name).createIndex(fields, options);
  }
}
