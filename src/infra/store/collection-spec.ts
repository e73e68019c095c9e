import type { Connection } from 'mongoose';
import { unlessAborted } from '../async/unless-aborted.ts';
import type { Directions } from './query-shape.ts';

/** An index: its fields in order, and whether each ascends (1) or descends (-1). */
export interface Index {
  readonly fields: Directions;
  /**
   * `embedded`: the values differ anyway, as with `_id`, and only the embedded database is told so, which reads no parts
   * of other indexes (docs/decisions/0178). On MongoDB a collection with unique indexes cannot be sharded by account. One
   * that begins with `_id` is not made there at all.
   */
  readonly unique?: true | 'embedded';
  /** Contains only the records that have the fields. */
  readonly sparse?: true;
}

/** Steps that delete the records of an account that lead to others (src/work/deletion-steps.ts). */
export type DeletionStep = 'batches' | 'jobs' | 'account';

/**
 * How the records of a collection belong to an account, which decides how they are deleted with it (account-records.ts):
 *
 * - `accountId`: by this field, with which an index begins;
 * - `_id`: the account's id is the record's;
 * - `prefix`: `_id` begins with the account's id and a colon;
 * - `step`: the step that deletes them;
 * - `none`: why no record belongs to an account.
 */
export type AccountBelonging =
  | 'accountId'
  | '_id'
  | 'prefix'
  | { readonly step: DeletionStep }
  | { readonly none: string };

/** The declaration of a collection, next to the code that owns it. */
export interface CollectionSpec {
  readonly name: string;
  readonly account: AccountBelonging;
  /** A further field that names an account, with which an index begins: the record is deleted with either account. */
  readonly alsoOf?: string;
  /** In addition to the index on `_id`. */
  readonly indexes?: readonly Index[];
  /**
   * Query terms that the index does not serve: fields that are compared without it, and `sort a, b` for a sort without
   * it, among the few records to which the index leads.
   */
  readonly filtersBy?: { readonly fields: readonly string[]; readonly reason: string };
  /** Large fields that few readers need: they are read only with a projection that includes them. */
  readonly large?: readonly string[];
  /** Queries that read the whole collection, as `nameOf` writes them, each with the reason why that is little. */
  readonly scans?: Readonly<Record<string, string>>;
}

/** The declarations over each connection, by the names of the collections. */
const declared = new WeakMap<Connection, Map<string, CollectionSpec>>();

/** @throws when the connection has another declaration of this name: a collection has one owner. */
export function declareCollection(connection: Connection, spec: CollectionSpec): void {
  const others = declared.get(connection) ?? new Map<string, CollectionSpec>();
  if ((others.get(spec.name) ?? spec) !== spec) throw new Error(`${spec.name} is declared twice.`);
  declared.set(connection, others.set(spec.name, spec));
}

/** The fields of all indexes of a collection, including the index on `_id`. */
export function indexedFields({ indexes = [] }: CollectionSpec): readonly Directions[] {
  return [{ _id: 1 }, ...indexes.map(({ fields }) => fields)];
}

/** The collections that were declared over a connection, in the order of their declaration. */
export function declaredCollections(connection: Connection): readonly CollectionSpec[] {
  return [...(declared.get(connection)?.values() ?? [])];
}

/** The declarations over each connection whose indexes are known to be there. */
const ensured = new WeakMap<Connection, Set<CollectionSpec>>();

/**
 * Creates every declared index that is missing, with a command for each collection that was declared since the last
 * call. Repeating it, also in several processes at once, changes nothing. MongoDB builds an index while others read and
 * write the collection. A starting process waits for the index, because without it every query would read the whole
 * collection.
 *
 * @param signal ends the waiting at once; MongoDB goes on building.
 * @throws the signal's reason.
 */
export async function ensureIndexes(
  connection: Connection,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const done = ensured.get(connection) ?? new Set();
  ensured.set(connection, done);
  let embedded: boolean | undefined;
  for (const spec of declaredCollections(connection)) {
    if (done.has(spec)) continue;
    embedded ??= await unlessAborted(signal, isEmbedded(connection));
    const wanted = indexesOn(spec, embedded);
    if (wanted.length > 0)
      await unlessAborted(signal, connection.collection(spec.name).createIndexes(wanted));
    done.add(spec);
  }
}

/** The indexes of a collection as a server is told of them. @param embedded whether it is the embedded database. */
export function indexesOn({ indexes = [] }: CollectionSpec, embedded: boolean) {
  return indexes
    .filter(({ fields }) => embedded || Object.keys(fields)[0] !== '_id')
    .map(({ fields, unique, ...options }) => {
      const isUnique = unique === true || (embedded && unique === 'embedded');
      return { key: { ...fields }, ...options, ...(isUnique && { unique: true }) };
    });
}

/** Every other server says which sources it was built from. */
async function isEmbedded(connection: Connection): Promise<boolean> {
  const built = await connection.db?.admin().command({ buildInfo: 1 });
  return built?.gitVersion === undefined;
}
