import ipaddr from 'ipaddr.js';

const IPV6_NETWORK_BYTES = 8;

/**
 * The network that a client counts as: its address; of IPv6 its /64, which is what one customer gets.
 *
 * @param address undefined when the connection is gone already.
 */
export function networkOf(address = ''): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  const bytes = parsed.toByteArray();
  return (parsed.kind() === 'ipv6' ? bytes.slice(0, IPV6_NETWORK_BYTES) : bytes).join('.');
}
