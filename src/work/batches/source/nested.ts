/**
 * Turns `{ 'customer.name': 'Ada' }` into `{ customer: { name: 'Ada' } }`.
 *
 * @throws Error for a column inside one that has a value of its own.
 */
export function nested(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const root: Record<string, unknown> = Object.create(null);
  for (const [column, value] of Object.entries(record)) {
    const names = column.split('.');
    const last = names.pop()!;
    let parent = root;
    for (const name of names) {
      parent[name] ??= Object.create(null);
      if (typeof parent[name] !== 'object')
        throw new Error(`the column ${column} is inside a column ${name}`);
      parent = parent[name] as Record<string, unknown>;
    }
    if (typeof parent[last] === 'object')
      throw new Error(`the column ${column} is a group of columns as well`);
    parent[last] = value;
  }
  return root;
}
