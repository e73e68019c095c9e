import type { Connection } from 'mongoose';
import { nameOf, type QueryShape, shapeOf } from '../../src/infra/store/query-shape.ts';

export interface SentQuery {
  readonly collection: string;
  readonly shape: QueryShape;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Notes the shape of every query that is sent over a connection, each once; however it was sent.
 *
 * @param connection opened with `monitorCommands=true`.
 */
export function recordQueries(connection: Connection): ReadonlyMap<string, SentQuery> {
  const sent = new Map<string, SentQuery>();
  connection.getClient().on('commandStarted', ({ commandName, command }) => {
    const collection = String(command[commandName]);
    for (const shape of shapesOf(commandName, command))
      sent.set(`${collection} ${nameOf(shape)}`, { collection, shape });
  });
  return sent;
}

function shapesOf(command: string, sent: Fields): QueryShape[] {
  switch (command) {
    case 'find':
      return [shape(sent.filter, sent.sort)];
    case 'findAndModify':
      return [shape(sent.query, sent.sort)];
    case 'update':
      return (sent.updates as Fields[]).map(({ q }) => shape(q));
    case 'delete':
      return (sent.deletes as Fields[]).map(({ q }) => shape(q));
    case 'count':
      // Without a query, the database answers from what it knows of the collection and reads no record.
      return sent.query === undefined ? [] : [shape(sent.query)];
    case 'distinct':
      return [shape(sent.query)];
    case 'aggregate':
      return [shape((sent.pipeline as Fields[])[0]?.$match)];
    default:
      return [];
  }
}

/** The driver sends sorts as maps. */
function shape(filter: unknown, sort?: unknown): QueryShape {
  return shapeOf(filter ?? {}, sort instanceof Map ? Object.fromEntries(sort) : (sort ?? {}));
}
