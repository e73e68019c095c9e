import ipaddr from 'ipaddr.js';

/**
 * Whether an allow-list lets an address through. Entries are addresses or networks (`203.0.113.0/24`, `2001:db8::/32`);
 * an IPv4 address counts the same when it comes mapped into IPv6. An entry that cannot be read lets nobody through.
 *
 * @param allowed an empty list lets everybody through.
 * @param address undefined when the connection is gone already.
 */
export function isAddressAllowed(allowed: readonly string[], address: string | undefined): boolean {
  if (allowed.length === 0) return true;
  // A zone names an interface of this machine (fe80::1%eth0), not the caller.
  const text = address?.split('%')[0] ?? '';
  if (!ipaddr.isValid(text)) return false;
  const client = ipaddr.process(text);
  return allowed.some((entry) => contains(entry, client));
}

function contains(entry: string, client: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const network = networkOf(entry);
  return network !== undefined && network[0].kind() === client.kind() && client.match(network);
}

function networkOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  try {
    const [address, bits] = entry.includes('/') ? ipaddr.parseCIDR(entry) : [ipaddr.parse(entry), undefined];
    const full = address.kind() === 'ipv4' ? 32 : 128;
    if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
      return [address.toIPv4Address(), Math.max(0, (bits ?? 128) - 96)];
    }
    return [address, bits ?? full];
  } catch {
    return undefined;
  }
}
