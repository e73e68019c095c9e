import ipaddr from 'ipaddr.js';

const IPV6_NETWORK_BYTES = 8;
const IPV6_SITE_BYTES = 6;

/** An IPv4 address, or an IPv6 /64, a customer's usual network. @param address undefined once closed. */
export function networkOf(address = ''): string {
  return beginningOf(address, IPV6_NETWORK_BYTES);
}

/**
 * The widest network that one customer may have: its IPv4 address, or its IPv6 /48, which contains 65,536 /64 networks.
 *
 * @param address undefined when the connection is closed already.
 */
export function siteOf(address = ''): string {
  return beginningOf(address, IPV6_SITE_BYTES);
}

/** How many times the bound of a network a site has: it may have many customers. */
const SITE_TIMES = 10;

/** A network or site that a client is counted by, and its bound. */
interface CountedNetwork {
  readonly kind: 'network' | 'site';
  readonly name: string;
  readonly bound: number;
}

/**
 * The networks that a client is counted by, the narrowest first: its network and, for IPv6, its site with ten times the
 * bound.
 *
 * @param address undefined when the connection is closed already.
 * @param bound of one network.
 */
export function countedNetworks(address: string | undefined, bound: number): CountedNetwork[] {
  const [network, site] = [networkOf(address), siteOf(address)];
  const narrow: CountedNetwork = { kind: 'network', name: network, bound };
  return site === network ? [narrow] : [narrow, { kind: 'site', name: site, bound: SITE_TIMES * bound }];
}

function beginningOf(address: string, ipv6Bytes: number): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  const bytes = parsed.toByteArray();
  return (parsed.kind() === 'ipv6' ? bytes.slice(0, ipv6Bytes) : bytes).join('.');
}
