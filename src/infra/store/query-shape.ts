/** How a query binds a field: to one value, to several values, to a range, or in a way that cannot use an index. */
type Binding = 'one' | 'some' | 'range' | 'other';

/** A query without its values. */
export interface QueryShape {
  readonly filter: Readonly<Record<string, Binding>>;
  /** The fields of the sort, in order; a minus marks fields with the opposite direction of the first field. */
  readonly sort: readonly string[];
}

/** Fields in order, and whether each ascends or descends. */
export type Directions = Readonly<Record<string, 1 | -1>>;

type Fields = Readonly<Record<string, unknown>>;

const RANGE: ReadonlySet<string> = new Set(['$gt', '$gte', '$lt', '$lte']);
/** A UUID or a similar id as the last part of a field's path. */
const ID_AT_END = /\.[0-9a-z-]{20,}$/;

export function shapeOf(filter: object, sort: object = {}): QueryShape {
  return { filter: bindings(filter as Fields), sort: orderOf(Object.entries(sort)) };
}

/** A text that is the same for all queries of a shape. */
export function nameOf({ filter, sort }: QueryShape): string {
  const fields = Object.entries(filter)
    .map(([field, binding]) => (binding === 'one' ? field : `${field}:${binding}`))
    .sort();
  return `{${fields.join(', ')}}${sort.length > 0 ? ` sort ${sort.join(', ')}` : ''}`;
}

/**
 * The terms of a query that its best index does not serve. A query can use an index if it binds the index's first
 * fields, all of them except the last to values. The following fields of the index provide the sort, in both
 * directions.
 *
 * @returns fields, and `sort a, b` for a sort; undefined when no index can be used.
 */
export function beyondIndex(
  shape: QueryShape,
  indexes: readonly Directions[],
): readonly string[] | undefined {
  const left = indexes
    .map((index) => beyond(shape, Object.entries(index)))
    .filter((asked) => asked !== undefined)
    .sort((a, b) => a.length - b.length);
  return left[0];
}

function beyond(shape: QueryShape, index: readonly [string, 1 | -1][]): readonly string[] | undefined {
  const led = new Set<string>();
  let rest = index;
  while (rest.length > 0) {
    const [field] = rest[0]!;
    const binding = shape.filter[field];
    if (binding === undefined || binding === 'other') break;
    led.add(field);
    // After a range the index is not sorted by its further fields.
    if (binding === 'range') break;
    rest = rest.slice(1);
  }
  if (led.size === 0) return undefined;
  if (led.has('_id') && shape.filter._id === 'one') return [];
  const given = orderOf(rest);
  const inOrder = shape.sort.every((field, i) => field === given[i]);
  const unbound = Object.keys(shape.filter).filter((field) => !led.has(field));
  return inOrder ? unbound : [...unbound, `sort ${shape.sort.join(', ')}`];
}

/** An index can be read from either end, so only the directions relative to the first field matter. */
function orderOf(fields: readonly (readonly [string, unknown])[]): string[] {
  return fields.map(([field, direction]) => (direction === fields[0]![1] ? field : `-${field}`));
}

function bindings(filter: Fields): Record<string, Binding> {
  const bound: Record<string, Binding> = {};
  for (const [field, value] of Object.entries(filter)) {
    if (field === '$and') for (const part of value as Fields[]) Object.assign(bound, bindings(part));
    // Alternatives, expressions and the like cannot use an index as a whole.
    else if (field.startsWith('$')) bound[field] = 'other';
    else bound[field.replace(ID_AT_END, '.*')] = bindingOf(value);
  }
  return bound;
}

function bindingOf(value: unknown): Binding {
  if (value instanceof RegExp) return 'other';
  if (typeof value !== 'object' || value === null || !isPlain(value)) return 'one';
  const operators = Object.keys(value).filter((key) => key.startsWith('$'));
  if (operators.length === 0) return 'one';
  if (operators.every((operator) => operator === '$eq')) return 'one';
  if (operators.every((operator) => operator === '$in')) return 'some';
  return operators.every((operator) => RANGE.has(operator)) ? 'range' : 'other';
}

/** An object with operators, not a date, an id or another value of the database. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
