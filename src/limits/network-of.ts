import ipaddr from 'ipaddr.js';

const IPV6_NETWORK_BYTES = 8;
const IPV6_SITE_BYTES = 6;

/**
 * The network that a client counts as: its address; of IPv6 its /64, which is what one customer gets.
 *
 * @param address undefined when the connection is gone already.
 */
export function networkOf(address = ''): string {
  return beginningOf(address, IPV6_NETWORK_BYTES);
}

/**
 * The widest network that one customer may have: its address; of IPv6 its /48, which has 65,536 of the others in it.
 *
 * @param address undefined when the connection is gone already.
 */
export function siteOf(address = ''): string {
  return beginningOf(address, IPV6_SITE_BYTES);
}

/** How many times as much is let in from a site as from one network: it may have many customers. */
const SITE_TIMES = 10;

/** Something that a client counts as, and how much is let in from there. */
export interface CountedNetwork {
  readonly kind: 'network' | 'site';
  readonly name: string;
  readonly bound: number;
}

/**
 * What a client is counted as, the narrowest first: its network and, of IPv6, its site with ten times the bound.
 *
 * @param address undefined when the connection is gone already.
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
