import type { Books } from './books.ts';
import type * as R from './records.ts';
import { paymentsOf } from './routes-invoices.ts';

/** An answer with what `expand` asked for: ids replaced by what they name, and parts that are told only when asked for. */
export function expanded(books: Books, answer: object, paths: readonly string[]): object {
  const copy = structuredClone(answer);
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
