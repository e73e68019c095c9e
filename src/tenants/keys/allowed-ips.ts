import ipaddr from 'ipaddr.js';

/** Bits before the IPv4 address in a mapped IPv6 address: `::ffff:203.0.113.0/120` is `203.0.113.0/24`. */
const MAPPED_PREFIX_BITS = 96;

/**
 * The canonical form of an entry of an allow-list: a network by its first address, an IPv6 address in short, a mapped
 * IPv4 address as IPv4.
 *
 * @returns undefined for what is neither an address (`203.0.113.7`, `2001:db8::7`) nor a CIDR (`203.0.113.0/24`).
 */
export function normaliseAllowedIp(entry: string): string | undefined {
  const [address, bits, ...rest] = entry.trim().split('/');
  if (address === undefined || rest.length > 0 || !isPlainAddress(address)) return undefined;
  if (bits === undefined) return ipaddr.process(address).toString();
  const parsed = ipaddr.parse(address);
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > (parsed.kind() === 'ipv4' ? 32 : 128)) return undefined;
  return networkText(parsed, Number(bits));
}

/** ipaddr.js also accepts `127.1`, `0x7f.1` and zones, which other programs read differently. */
function isPlainAddress(text: string): boolean {
  if (text.includes('%')) return false;
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

function networkText(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string | undefined {
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    if (bits < MAPPED_PREFIX_BITS) return undefined;
    return networkText(address.toIPv4Address(), bits - MAPPED_PREFIX_BITS);
  }
  const first =
    address instanceof ipaddr.IPv4
      ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`);
  return `${first.toString()}/${bits}`;
}

/**
 * Whether an allow-list allows an address. Entries are addresses or networks (`203.0.113.0/24`, `2001:db8::/32`);
 * a mapped IPv4 address is treated as IPv4. An invalid entry matches no address.
 *
 * @param allowed an empty list allows every address.
 * @param address undefined when the connection is closed already.
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
      return [address.toIPv4Address(), Math.max(0, (bits ?? 128) - MAPPED_PREFIX_BITS)];
    }
    return [address, bits ?? full];
  } catch {
    return undefined;
  }
}
