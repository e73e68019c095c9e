import { type CollectionSpec, indexedFields } from './collection-spec.ts';
import { beyondIndex, type Directions, nameOf, type QueryShape, shapeOf } from './query-shape.ts';

/** A query that would read far more records than it returns. */
export class UnindexedQuery extends Error {
  constructor(collection: string, query: string, why: string) {
    super(`Query of ${collection}: ${query}: ${why}. Declare an index for it, or why it reads little.`);
    this.name = 'UnindexedQuery';
  }
}

/** Allows only queries of a collection that use an index, and queries that are declared as exceptions. */
export class QueryGuard {
  readonly #spec: CollectionSpec;
  /** Allowed shapes; there are as many as the code has queries. */
  readonly #allowed = new Set<string>();

  constructor(spec: CollectionSpec) {
    this.#spec = spec;
  }

  /** @throws UnindexedQuery */
  check(filter: object, sort?: Directions): void {
    // Most queries of a render: of one record, whatever else they ask of it.
    if ('_id' in filter && typeof filter._id === 'string') return;
    const shape = shapeOf(filter, sort);
    if (shape.filter._id === 'one') return;
    const name = nameOf(shape);
    if (this.#allowed.has(name)) return;
    const error = errorOf(this.#spec, shape);
    if (error !== undefined) throw new UnindexedQuery(this.#spec.name, name, error);
    this.#allowed.add(name);
  }
}

/** Why queries of a shape are not allowed; undefined when they use an index or are declared as an exception. */
export function errorOf(spec: CollectionSpec, shape: QueryShape): string | undefined {
  const { filtersBy, scans = {} } = spec;
  if (nameOf(shape) in scans) return undefined;
  const beyond = beyondIndex(shape, indexedFields(spec));
  if (beyond === undefined) return 'no index leads it';
  const unexplained = beyond.filter((field) => !filtersBy?.fields.includes(field));
  return unexplained.length === 0 ? undefined : `not in its index: ${unexplained.join(', ')}`;
}
