import ipaddr from 'ipaddr.js';
import { isInNetwork, type Network } from './networks.ts';
import {
  IPV4_COMPATIBLE,
  NAT64_LOCAL_USE,
  NAT64_WELL_KNOWN,
  SIX_TO_FOUR,
  TEREDO,
} from './special-networks.ts';

/** Where RFC 6052 section 2.2 puts the four bytes, by prefix length; byte 8 is skipped. */
const RFC_6052_BYTES: Readonly<Record<number, readonly [number, number, number, number]>> = {
  48: [6, 7, 9, 10],
  56: [7, 9, 10, 11],
  64: [9, 10, 11, 12],
  96: [12, 13, 14, 15],
};

/**
 * The IPv4 addresses that `address` makes a gateway, a relay or a tunnel end connect to.
 *
 * @param nat64 the operator's own NAT64 prefix that the address lies in, if any: its length says where in a
 * 64:ff9b:1::/48 address the IPv4 address is. Other lengths count as /96.
 */
export function embeddedIPv4(address: ipaddr.IPv6, nat64?: Network): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const at = (...indexes: readonly number[]) => new ipaddr.IPv4(indexes.map((index) => bytes[index]!));
  const last = at(12, 13, 14, 15);

  if (isInNetwork(address, NAT64_WELL_KNOWN)) return [last];
  if (isInNetwork(address, NAT64_LOCAL_USE)) {
    return [at(...(RFC_6052_BYTES[nat64?.prefix ?? 96] ?? RFC_6052_BYTES[96]!))];
  }
  if (isInNetwork(address, SIX_TO_FOUR)) return [at(2, 3, 4, 5)];
  // RFC 4380 section 4: the server's address, then the client's with every bit inverted.
  if (isInNetwork(address, TEREDO)) {
    return [at(4, 5, 6, 7), new ipaddr.IPv4(last.octets.map((octet) => octet ^ 0xff))];
  }
  // :: and ::1 are in this block without standing for an IPv4 address.
  if (isInNetwork(address, IPV4_COMPATIBLE))
    return bytes.slice(0, 15).some((byte) => byte !== 0) || bytes[15]! > 1 ? [last] : [];
  return isIsatap(bytes) ? [last] : [];
}

/** RFC 5214 section 6.1: an interface id of 0000:5efe or 0200:5efe before the IPv4 address, under any prefix. */
function isIsatap(bytes: readonly number[]): boolean {
  return (bytes[8]! & ~0x02) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}
