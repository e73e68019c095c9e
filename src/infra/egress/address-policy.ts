import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { embeddedIPv4 } from './embedded-ipv4.ts';
import { type Address, isInNetwork, type Network, parseAddress, unmapped } from './networks.ts';
import { isAllowedPort } from './ports.ts';
import {
  GLOBAL_UNICAST_IPV6,
  METADATA_ADDRESSES,
  NAT64_LOCAL_USE,
  NAT64_WELL_KNOWN,
  SPECIAL_IPV4,
  SPECIAL_IPV6,
  type SpecialNetwork,
} from './special-networks.ts';

/** The policy's decision about an address. The reason is for people; it names the block and its RFC. */
type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/** The addresses and ports that anything named by a customer may lead to. */
export interface AddressPolicy {
  /** @param address without brackets; what is no plain IP address is refused. @param port checked when given. */
  check(address: string, port?: number): Verdict;
}

interface AddressPolicyOptions {
  /** Private networks that are open nevertheless. */
  readonly allowedNetworks?: readonly Network[];
  /** Addresses of this machine: through them a service bound to every interface would be reached past the firewall. */
  readonly ownAddresses?: readonly string[];
}

const ALLOWED: Verdict = { allowed: true };
const refused = (reason: string): Verdict => ({ allowed: false, reason });
const describe = (special: SpecialNetwork) => `${special.text} (${special.name}, ${special.reference})`;

/** Closed by default: public addresses only, without this machine's own, plus those that the operator names. */
export function createAddressPolicy(options: AddressPolicyOptions = {}): AddressPolicy {
  const allowedNetworks = options.allowedNetworks ?? [];
  const own = new Set((options.ownAddresses ?? []).map((text) => parseAddress(text)?.toString()));

  function checkAddress(given: Address): Verdict {
    const address = unmapped(given);
    const named = mostSpecific(address, allowedNetworks);
    if (address instanceof ipaddr.IPv6) {
      const inner = checkEmbedded(address, named);
      if (!inner.allowed || isInNetwork(address, NAT64_WELL_KNOWN)) return inner;
    }
    const metadata = METADATA_ADDRESSES.find((entry) => isInNetwork(address, entry));
    if (metadata && named?.prefix !== metadata.prefix) return refused(describe(metadata));
    if (named) return ALLOWED;
    if (own.has(address.toString())) return refused('an address of this machine');
    return checkPublic(address);
  }

  /** The address behind a translation or a tunnel has to be allowed as well, whatever opened the outer network. */
  function checkEmbedded(address: ipaddr.IPv6, named: Network | undefined): Verdict {
    const nat64 = named && isInNetwork(named.base, NAT64_LOCAL_USE) ? named : undefined;
    for (const inner of embeddedIPv4(address, nat64)) {
      const verdict = checkAddress(inner);
      if (!verdict.allowed) return refused(`carries ${inner.toString()}: ${verdict.reason}`);
    }
    return ALLOWED;
  }

  return {
    check(text, port) {
      const address = parseAddress(text);
      if (!address) return refused('not an IP address');
      if (port !== undefined && !isAllowedPort(port)) return refused(`port ${port} is not open to HTTP`);
      return checkAddress(address);
    },
  };
}

function checkPublic(address: Address): Verdict {
  const table = address instanceof ipaddr.IPv4 ? SPECIAL_IPV4 : SPECIAL_IPV6;
  const special = table.find((entry) => isInNetwork(address, entry));
  if (special) return refused(describe(special));
  if (address instanceof ipaddr.IPv6 && !isInNetwork(address, GLOBAL_UNICAST_IPV6)) {
    return refused(`outside ${GLOBAL_UNICAST_IPV6.text} (not global unicast, RFC 4291)`);
  }
  return ALLOWED;
}

function mostSpecific(address: Address, networks: readonly Network[]): Network | undefined {
  return networks
    .filter((candidate) => isInNetwork(address, candidate))
    .reduce<Network | undefined>(
      (best, next) => (best && best.prefix >= next.prefix ? best : next),
      undefined,
    );
}

/** The addresses of this machine's interfaces at the moment, for `ownAddresses`. */
export function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map((entry) => entry.address),
  );
}
