import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address block, such as 10.0.0.0/8. */
export interface Network {
  readonly base: Address;
  /** Leading bits that count: 0–32 for IPv4, 0–128 for IPv6. */
  readonly prefix: number;
  /** The block as people write it. */
  readonly text: string;
}

/** Thrown for a list of networks that cannot be parsed; `problems` names every wrong entry. */
export class NetworkSyntaxError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.name = 'NetworkSyntaxError';
    this.problems = problems;
  }
}

/**
 * The address that `text` spells out, or undefined.
 *
 * Strict on purpose: only dotted decimal and RFC 4291 text pass. Octal, hexadecimal and shortened IPv4 forms are left
 * to the URL parser, and a zone id (`fe80::1%eth0`) belongs to no address that may be reached.
 */
export function parseAddress(text: string): Address | undefined {
  const version = isIP(text);
  if (version === 0 || text.includes('%')) return undefined;
  if (version === 4) return ipaddr.IPv4.parse(text);
  // ipaddr.js takes ::a.b.c.d for ::ffff:a.b.c.d, which is another address; all in hexadecimal it is unambiguous.
  return ipaddr.IPv6.parse(new URL(`http://[${text}]/`).hostname.slice(1, -1));
}

/** The IPv4 address that `address` is to the kernel, if it is a mapped one (::ffff:a.b.c.d). */
export function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Whether `address` lies in `network`; an address of the other family never does. */
export function isInNetwork(address: Address, network: Network): boolean {
  if (address instanceof ipaddr.IPv4) {
    return network.base instanceof ipaddr.IPv4 && address.match(network.base, network.prefix);
  }
  return network.base instanceof ipaddr.IPv6 && address.match(network.base, network.prefix);
}

/** A block written in the source, such as a registry row. */
export function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (typeof parsed === 'string') throw new NetworkSyntaxError([parsed]);
  return parsed;
}

/**
 * The networks that an operator names, each a CIDR block or a single address.
 *
 * @throws NetworkSyntaxError naming every entry that is neither, has bits set past its prefix, is an IPv4 block in IPv6
 * form, or is the whole address space.
 */
export function parseNetworks(entries: readonly string[]): Network[] {
  const parsed = entries.map((entry) => parseNetwork(entry.trim()));
  const problems = parsed.filter((result) => typeof result === 'string');
  if (problems.length > 0) throw new NetworkSyntaxError(problems);
  return parsed.filter((result) => typeof result !== 'string');
}

/** The block, or what is wrong with its text. */
function parseNetwork(text: string): Network | string {
  const [addressText = '', prefixText, ...rest] = text.split('/');
  const base = parseAddress(addressText);
  if (base === undefined || rest.length > 0) {
    return `"${text}" is not a network: write an address and a prefix length, such as 10.20.0.0/16 or fd12:3456::/32`;
  }
  const width = base instanceof ipaddr.IPv4 ? 32 : 128;
  const prefix = prefixText === undefined ? width : Number(prefixText);
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) {
    return `"${text}" has a prefix length that is not a number`;
  }
  if (prefix > width) return `"${text}" has a prefix length over ${width}`;
  if (prefix === 0) return `"${text}" is every address there is: name the networks that are meant`;
  if (base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress()) {
    return `"${text}" is an IPv4 address written as IPv6: write it as IPv4`;
  }
  const first = firstAddress(base, prefix);
  if (first !== base.toString()) return `"${text}" has bits set past its prefix: write ${first}/${prefix}`;
  return { base, prefix, text: `${first}/${prefix}` };
}

function firstAddress(base: Address, prefix: number): string {
  const cidr = `${base.toString()}/${prefix}`;
  return base instanceof ipaddr.IPv4
    ? ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()
    : ipaddr.IPv6.networkAddressFromCIDR(cidr).toString();
}
