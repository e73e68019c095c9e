import { createHash } from 'node:crypto';

/** A UUID of version 8 (RFC 9562) from a hash of the names. The same names give the same UUID in every process. */
export function namedUuid(...names: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(names)).digest();
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
