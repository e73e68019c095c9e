/** Headers for the next hop only (RFC 9110 section 7.6.1), and headers that some clients send to a proxy. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Set on every response of the proxy itself, with the error's code; removed from responses of origins. */
export const EGRESS_HEADER = 'x-platen-egress';

/**
 * The headers of a message that go on to the next hop: `raw` (name, value, name, value …) without those of this hop,
 * those that its Connection header names, and those in `drop` (lower case).
 */
export function forwardedHeaders(raw: readonly string[], drop: readonly string[] = []): string[] {
  const dropped = new Set([...HOP_BY_HOP, ...drop, ...namedByConnection(raw)]);
  return pairs(raw)
    .filter(([name]) => !dropped.has(name.toLowerCase()))
    .flat();
}

function namedByConnection(raw: readonly string[]): string[] {
  return pairs(raw)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((token) => token.trim().toLowerCase()));
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []));
}
