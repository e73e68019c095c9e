import type { Books } from './books.ts';
import { listOf } from './books.ts';
import type { Params } from './params.ts';
import type { ApiList } from './records.ts';

export interface Call {
  readonly books: Books;
  readonly params: Params;
  /** The ids in the path, in order. */
  readonly ids: readonly string[];
}

/**
 * A route of Stripe's API. `act` reads all its parameters, calls their `end`, and only then changes anything; it runs
 * without a break.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With `:id` where an id stands. */
  readonly path: string;
  readonly act: (call: Call) => object;
}

export function route(method: Route['method'], path: string, act: Route['act']): Route {
  return { method, path, act };
}

/** The ids in a path, when it is the route's. */
export function idsIn({ path }: Route, asked: string): readonly string[] | undefined {
  const segments = path.split('/');
  const given = asked.split('/');
  if (segments.length !== given.length) return undefined;
  const ids: string[] = [];
  for (const [index, part] of segments.entries()) {
    if (part === ':id') ids.push(decodeURIComponent(given[index]!));
    else if (part !== given[index]) return undefined;
  }
  return ids;
}

type Listed = { readonly id: string; readonly created: number };

/** A page of a list, the newest first, as `limit`, `starting_after` and `created` ask; `url` is the list's. */
export function page<T extends Listed>(
  { params }: Call,
  url: string,
  rows: Iterable<T>,
  fits: (row: T) => boolean = () => true,
): ApiList<T> {
  const limit = params.integer('limit') ?? 10;
  const after = params.text('starting_after');
  const created = params.within('created');
  const bounds = {
    gte: created?.integer('gte') ?? -Infinity,
    gt: created?.integer('gt') ?? -Infinity,
    lte: created?.integer('lte') ?? Infinity,
    lt: created?.integer('lt') ?? Infinity,
  };
  params.end();
  const found = [...rows]
    .filter(fits)
    .filter(({ created: at }) => at >= bounds.gte && at > bounds.gt && at <= bounds.lte && at < bounds.lt)
    .sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
  const from = after === undefined ? 0 : found.findIndex(({ id }) => id === after) + 1;
  return listOf(found.slice(from, from + limit), url, found.length > from + limit);
}
