import ipaddr from 'ipaddr.js';

const KEPT_V4_BYTES = 3;
/** 48 of 128 bits: the part that identifies a site, not a machine. */
const KEPT_V6_BYTES = 6;

/** An address without the part that identifies a machine: the last octet of IPv4, the last 80 bits of IPv6. */
export function maskAddress(address: string): string {
  const text = address.split('%')[0] ?? '';
  if (!ipaddr.isValid(text)) return '';
  const full = ipaddr.process(text);
  const kept = full.kind() === 'ipv4' ? KEPT_V4_BYTES : KEPT_V6_BYTES;
  return ipaddr.fromByteArray(full.toByteArray().map((byte, i) => (i < kept ? byte : 0))).toString();
}
