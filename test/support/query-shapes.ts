import type { Connection } from 'mongoose';

/** How a query binds a field: to one value, to some values, to a range, or in a way that no index helps with. */
export type Binding = 'one' | 'some' | 'range' | 'other';

/** What a query looks like when its values are left out. */
export interface QueryShape {
  readonly collection: string;
  readonly command: string;
  readonly filter: Readonly<Record<string, Binding>>;
  /** Fields it sorts by, in order. */
  readonly sort: readonly string[];
}

/** One line that is the same for all queries of a shape. */
export function nameOf({ collection, filter, sort }: QueryShape): string {
  const fields = Object.entries(filter)
    .map(([field, binding]) => (binding === 'one' ? field : `${field}:${binding}`))
    .sort();
  return `${collection} {${fields.join(', ')}}${sort.length > 0 ? ` sort ${sort.join(', ')}` : ''}`;
}

/**
 * Notes the shape of every query that is sent over a connection.
 *
 * @param connection opened with `monitorCommands=true`.
 */
export function recordShapes(connection: Connection): Map<string, QueryShape> {
  const shapes = new Map<string, QueryShape>();
  connection.getClient().on('commandStarted', ({ commandName, command }) => {
    for (const shape of shapesOf(commandName, command)) shapes.set(nameOf(shape), shape);
  });
  return shapes;
}

type Fields = Record<string, unknown>;

function shapesOf(command: string, sent: Fields): QueryShape[] {
  const collection = String(sent[command]);
  const shape = (filter: unknown, sort?: unknown): QueryShape => ({
    collection,
    command,
    filter: bindings((filter ?? {}) as Fields),
    sort: sort === undefined || sort === null ? [] : Object.keys(plain(sort)),
  });
  switch (command) {
    case 'find':
      return [shape(sent.filter, sent.sort)];
    case 'findAndModify':
      return [shape(sent.query, sent.sort)];
    case 'update':
      return (sent.updates as Fields[]).map(({ q }) => shape(q));
    case 'delete':
      return (sent.deletes as Fields[]).map(({ q }) => shape(q));
    case 'distinct':
      return [shape(sent.query)];
    case 'aggregate': {
      const [first] = sent.pipeline as Fields[];
      return [shape(first?.$match)];
    }
    default:
      return [];
  }
}

function bindings(filter: Fields): Record<string, Binding> {
  const bound: Record<string, Binding> = {};
  for (const [field, value] of Object.entries(plain(filter))) {
    // Ids of jobs stand inside of names of fields.
    if (field === '$and') for (const part of value as Fields[]) Object.assign(bound, bindings(part));
    else bound[field.replace(/\.[0-9a-z-]{20,}$/, '.*')] = bindingOf(value);
  }
  return bound;
}

function bindingOf(value: unknown): Binding {
  const condition = plain(value);
  const operators = Object.keys(condition).filter((key) => key.startsWith('$'));
  if (operators.length === 0) return 'one';
  if (operators.every((operator) => operator === '$in')) return 'some';
  return operators.every((operator) => ['$gt', '$gte', '$lt', '$lte'].includes(operator)) ? 'range' : 'other';
}

/** The driver sends sorts as maps and conditions as objects; a value of any other kind has no operators. */
function plain(value: unknown): Fields {
  if (value instanceof Map) return Object.fromEntries(value);
  return typeof value === 'object' && value !== null && value.constructor === Object ? (value as Fields) : {};
}
