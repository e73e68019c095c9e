import type { Books } from './books.ts';
import type * as R from './records.ts';
import { paymentsOf } from './routes-invoices.ts';

/**
 * A response with the fields that `expand` requests: ids replaced by their objects, and fields that are otherwise left
 * out.
 */
export function expanded(books: Books, response: object, paths: readonly string[]): object {
  const copy = structuredClone(response);
  for (const path of paths) expand(books, copy, path.split('.'));
  return copy;
}

function expand(books: Books, value: unknown, [name, ...rest]: readonly string[]): void {
  if (name === undefined || value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    for (const each of value) expand(books, each, [name, ...rest]);
    return;
  }
  const fields = value as Record<string, unknown>;
  const found = fields[name] ?? partOf(books, fields, name);
  fields[name] = typeof found === 'string' ? structuredClone(books.byId(found) ?? found) : found;
  expand(books, fields[name], rest);
}

function partOf(books: Books, { object, id }: Record<string, unknown>, name: string): unknown {
  if (object === 'invoice' && name === 'payments') {
    const invoice = books.invoices.get(String(id));
    return invoice && structuredClone(paymentsOf({ books }, invoice));
  }
  if (object === 'customer' && name === 'subscriptions') {
    const all = [...books.subscriptions.values()];
    const data = all.filter(({ customer, status }) => customer === id && status !== 'canceled');
    return { object: 'list', data: structuredClone(data) as R.Subscription[], has_more: false };
  }
  return null;
}
