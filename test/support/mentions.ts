import type { Connection } from 'mongoose';

/** By collection, how many records of a database have one of these texts anywhere; collections without one are left out. */
export async function mentions(
  connection: Connection,
  texts: readonly string[],
): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { name } of await connection.db!.listCollections().toArray()) {
    for await (const record of connection.db!.collection(name).find({}))
      if (hasAny(record, texts)) found[name] = (found[name] ?? 0) + 1;
  }
  return found;
}

/** Whether a text is anywhere in a record, also in names and in binary fields. */
function hasAny(value: unknown, texts: readonly string[]): boolean {
  if (typeof value === 'string') return texts.some((text) => value.includes(text));
  if (typeof value !== 'object' || value === null || value instanceof Date) return false;
  if ('buffer' in value && value.buffer instanceof Uint8Array) {
    const bytes = Buffer.from(value.buffer);
    return texts.some((text) => bytes.includes(text));
  }
  return Object.entries(value).some(([name, part]) => hasAny(name, texts) || hasAny(part, texts));
}
