import ipaddr from 'ipaddr.js';

/** Bits of an IPv4 address that stands in an IPv6 one: `::ffff:203.0.113.0/120` is `203.0.113.0/24`. */
const MAPPED_PREFIX_BITS = 96;

/**
 * An entry of an allow-list in its one written form: a network by its first address, an IPv6 address in short, a mapped
 * IPv4 address as what it is.
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

/** ipaddr.js also reads `127.1`, `0x7f.1` and zones, which mean something else to most. */
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
