import { type Network, network } from './networks.ts';

/** A block that is not part of the public internet. */
export interface SpecialNetwork extends Network {
  readonly name: string;
  readonly reference: string;
}

const row = (block: string, name: string, reference: string): SpecialNetwork => ({
  ...network(block),
  name,
  reference,
});

/**
 * Every row of the IANA IPv4 Special-Purpose Address Registry (RFC 6890, RFC 8190), then multicast.
 * https://www.iana.org/assignments/iana-ipv4-special-registry/
 *
 * The rows marked "globally reachable" there are refused as well: they are anycast services of the network itself (port
 * control, TURN, AS112, AMT), and no document lives there. A narrow row comes before the wide one that contains it.
 */
export const SPECIAL_IPV4: readonly SpecialNetwork[] = [
  row('0.0.0.0/32', 'this host on this network', 'RFC 1122'),
  row('0.0.0.0/8', 'this network', 'RFC 791'),
  row('10.0.0.0/8', 'private use', 'RFC 1918'),
  row('100.64.0.0/10', 'shared address space', 'RFC 6598'),
  row('127.0.0.0/8', 'loopback', 'RFC 1122'),
  row('169.254.0.0/16', 'link local', 'RFC 3927'),
  row('172.16.0.0/12', 'private use', 'RFC 1918'),
  row('192.0.0.0/29', 'IPv4 service continuity prefix', 'RFC 7335'),
  row('192.0.0.8/32', 'IPv4 dummy address', 'RFC 7600'),
  row('192.0.0.9/32', 'port control protocol anycast', 'RFC 7723'),
  row('192.0.0.10/32', 'TURN anycast', 'RFC 8155'),
  row('192.0.0.170/32', 'NAT64/DNS64 discovery', 'RFC 8880'),
  row('192.0.0.171/32', 'NAT64/DNS64 discovery', 'RFC 8880'),
  row('192.0.0.0/24', 'IETF protocol assignments', 'RFC 6890'),
  row('192.0.2.0/24', 'documentation (TEST-NET-1)', 'RFC 5737'),
  row('192.31.196.0/24', 'AS112-v4', 'RFC 7535'),
  row('192.52.193.0/24', 'AMT', 'RFC 7450'),
  row('192.88.99.2/32', '6a44 relay anycast', 'RFC 6751'),
  row('192.88.99.0/24', 'deprecated 6to4 relay anycast', 'RFC 7526'),
  row('192.168.0.0/16', 'private use', 'RFC 1918'),
  row('192.175.48.0/24', 'direct delegation AS112 service', 'RFC 7534'),
  row('198.18.0.0/15', 'benchmarking', 'RFC 2544'),
  row('198.51.100.0/24', 'documentation (TEST-NET-2)', 'RFC 5737'),
  row('203.0.113.0/24', 'documentation (TEST-NET-3)', 'RFC 5737'),
  row('255.255.255.255/32', 'limited broadcast', 'RFC 919'),
  row('240.0.0.0/4', 'reserved', 'RFC 1112'),
  row('224.0.0.0/4', 'multicast', 'RFC 5771'),
];

/**
 * Every row of the IANA IPv6 Special-Purpose Address Registry, then multicast and the deprecated blocks that stacks
 * still route. https://www.iana.org/assignments/iana-ipv6-special-registry/
 *
 * 64:ff9b::/96 and ::ffff:0:0/96 are missing here because they stand for an IPv4 address, which decides.
 */
export const SPECIAL_IPV6: readonly SpecialNetwork[] = [
  row('::1/128', 'loopback', 'RFC 4291'),
  row('::/128', 'unspecified', 'RFC 4291'),
  row('64:ff9b:1::/48', 'local-use IPv4/IPv6 translation', 'RFC 8215'),
  row('100::/64', 'discard only', 'RFC 6666'),
  row('100:0:0:1::/64', 'dummy prefix', 'RFC 9780'),
  row('2001::/32', 'Teredo', 'RFC 4380'),
  row('2001:1::1/128', 'port control protocol anycast', 'RFC 7723'),
  row('2001:1::2/128', 'TURN anycast', 'RFC 8155'),
  row('2001:1::3/128', 'DNS-SD service registration anycast', 'RFC 9665'),
  row('2001:2::/48', 'benchmarking', 'RFC 5180'),
  row('2001:3::/32', 'AMT', 'RFC 7450'),
  row('2001:4:112::/48', 'AS112-v6', 'RFC 7535'),
  row('2001:10::/28', 'deprecated ORCHID', 'RFC 4843'),
  row('2001:20::/28', 'ORCHIDv2', 'RFC 7343'),
  row('2001:30::/28', 'drone remote ID', 'RFC 9374'),
  row('2001::/23', 'IETF protocol assignments', 'RFC 2928'),
  row('2001:db8::/32', 'documentation', 'RFC 3849'),
  row('2002::/16', '6to4', 'RFC 3056'),
  row('2620:4f:8000::/48', 'direct delegation AS112 service', 'RFC 7534'),
  row('3fff::/20', 'documentation', 'RFC 9637'),
  row('5f00::/16', 'segment routing SIDs', 'RFC 9602'),
  row('fc00::/7', 'unique local', 'RFC 4193'),
  row('fe80::/10', 'link local', 'RFC 4291'),
  row('fec0::/10', 'deprecated site local', 'RFC 3879'),
  row('ff00::/8', 'multicast', 'RFC 4291'),
  row('::/96', 'deprecated IPv4-compatible', 'RFC 4291'),
];

/** The only part of the IPv6 space that IANA has assigned for unicast; everything else is refused. */
export const GLOBAL_UNICAST_IPV6: Network = network('2000::/3');

/** Means the IPv4 internet on networks that have only IPv6 (RFC 6052). */
export const NAT64_WELL_KNOWN: Network = network('64:ff9b::/96');
export const NAT64_LOCAL_USE: Network = network('64:ff9b:1::/48');
export const TEREDO: Network = network('2001::/32');
export const SIX_TO_FOUR: Network = network('2002::/16');
export const IPV4_COMPATIBLE: Network = network('::/96');

/**
 * The addresses where clouds give out a machine's own credentials. Most lie in a block above, one (Azure's) is a public
 * address. A network that an operator allows does not open them: only the address itself, named alone, does.
 */
export const METADATA_ADDRESSES: readonly SpecialNetwork[] = [
  row('169.254.169.254/32', 'cloud metadata', 'AWS, Azure, GCP, OpenStack'),
  row('169.254.170.2/32', 'cloud metadata', 'AWS ECS task credentials'),
  row('169.254.170.23/32', 'cloud metadata', 'AWS EKS pod identity'),
  row('fd00:ec2::254/128', 'cloud metadata', 'AWS'),
  row('fd00:ec2::23/128', 'cloud metadata', 'AWS EKS pod identity'),
  row('fd20:ce::254/128', 'cloud metadata', 'GCP'),
  row('100.100.100.200/32', 'cloud metadata', 'Alibaba Cloud'),
  row('168.63.129.16/32', 'cloud metadata', 'Azure host agent'),
];
