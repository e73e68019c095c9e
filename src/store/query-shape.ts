/** How a query binds a field: to one value, to some values, to a range, or in a way that no index helps with. */
export type Binding = 'one' | 'some' | 'range' | 'other';

/** What a query looks like when its values are left out. */
export interface QueryShape {
  readonly filter: Readonly<Record<string, Binding>>;
  /** Fields it sorts by, in order. */
  readonly sort: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const RANGE: ReadonlySet<string> = new Set(['$gt', '$gte', '$lt', '$lte']);
/** A UUID, or something like it, as the last part of a field's path. */
const ID_AT_END = /\.[0-9a-z-]{20,}$/;

export function shapeOf(filter: object, sort: object = {}): QueryShape {
  return { filter: bindings(filter as Fields), sort: Object.keys(sort) };
}

/** One text that is the same for all queries of a shape. */
export function nameOf({ filter, sort }: QueryShape): string {
  const fields = Object.entries(filter)
    .map(([field, binding]) => (binding === 'one' ? field : `${field}:${binding}`))
    .sort();
  return `{${fields.join(', ')}}${sort.length > 0 ? ` sort ${sort.join(', ')}` : ''}`;
}

/**
 * What a query asks for that its best index does not give. An index leads a query whose fields are its first ones, all
 * but the last of them bound to values; after those it gives the order.
 *
 * @param indexes the fields of each, in order.
 * @returns fields and, as `sort a, b`, an order; undefined when no index leads the query.
 */
export function beyondIndex(
  shape: QueryShape,
  indexes: readonly (readonly string[])[],
): readonly string[] | undefined {
  const left = indexes
    .map((index) => beyond(shape, index))
    .filter((asked) => asked !== undefined)
    .sort((a, b) => a.length - b.length);
  return left[0];
}

function beyond(shape: QueryShape, index: readonly string[]): readonly string[] | undefined {
  const led = new Set<string>();
  let rest = index;
  while (rest.length > 0) {
    const binding = shape.filter[rest[0]!];
    if (binding === undefined || binding === 'other') break;
    led.add(rest[0]!);
    // Past a range the order of the index is not that of its further fields.
    if (binding === 'range') break;
    rest = rest.slice(1);
  }
  if (led.size === 0) return undefined;
  if (led.has('_id') && shape.filter._id === 'one') return [];
  const inOrder = shape.sort.every((field, i) => field === rest[i]);
  const unbound = Object.keys(shape.filter).filter((field) => !led.has(field));
  return inOrder ? unbound : [...unbound, `sort ${shape.sort.join(', ')}`];
}

function bindings(filter: Fields): Record<string, Binding> {
  const bound: Record<string, Binding> = {};
  for (const [field, value] of Object.entries(filter)) {
    if (field === '$and') for (const part of value as Fields[]) Object.assign(bound, bindings(part));
    else bound[field.replace(ID_AT_END, '.*')] = bindingOf(value);
  }
  return bound;
}

function bindingOf(value: unknown): Binding {
  if (typeof value !== 'object' || value === null || value.constructor !== Object) return 'one';
  const operators = Object.keys(value).filter((key) => key.startsWith('$'));
  if (operators.length === 0) return 'one';
  if (operators.every((operator) => operator === '$in')) return 'some';
  return operators.every((operator) => RANGE.has(operator)) ? 'range' : 'other';
}
