import { type CollectionSpec, indexedFields } from './collection-spec.ts';
import { beyondIndex, type Directions, nameOf, type QueryShape, shapeOf } from './query-shape.ts';

/** A query that would read far more than it returns. */
export class UnindexedQuery extends Error {
  constructor(collection: string, query: string, why: string) {
    super(`Query of ${collection}: ${query}: ${why}. Declare an index for it, or why it reads little.`);
    this.name = 'UnindexedQuery';
  }
}

/** Lets those queries of a collection through that an index leads, and those that are declared as exceptions. */
export class QueryGuard {
  readonly #spec: CollectionSpec;
  /** Shapes that were found right; there are as many as the code has queries. */
  readonly #allowed = new Set<string>();

  constructor(spec: CollectionSpec) {
    this.#spec = spec;
  }

  /** @throws UnindexedQuery */
  check(filter: object, sort?: Directions): void {
    const shape = shapeOf(filter, sort);
    if (shape.filter._id === 'one') return;
    const name = nameOf(shape);
    if (this.#allowed.has(name)) return;
    const error = errorOf(this.#spec, shape);
    if (error !== undefined) throw new UnindexedQuery(this.#spec.name, name, error);
    this.#allowed.add(name);
  }
}

/** What is wrong with queries of a shape; undefined when an index or a declared exception leads them. */
export function errorOf(spec: CollectionSpec, shape: QueryShape): string | undefined {
  const { filtersBy, scans = {} } = spec;
  if (nameOf(shape) in scans) return undefined;
  const beyond = beyondIndex(shape, indexedFields(spec));
  if (beyond === undefined) return 'no index leads it';
  const unexplained = beyond.filter((field) => !filtersBy?.fields.includes(field));
  return unexplained.length === 0 ? undefined : `not in its index: ${unexplained.join(', ')}`;
}
