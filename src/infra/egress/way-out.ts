import type { Socket } from 'node:net';
import type { AddressPolicy } from './address-policy.ts';
import { type OpenOptions, openSocket } from './connect.ts';
import { EgressError } from './errors.ts';
import { isLocalhost, type Target } from './host.ts';
import { type Lookup, systemLookup } from './lookup.ts';
import { isAllowedPort } from './ports.ts';
import { noHost, resolveChecked } from './resolve.ts';
import { openTunnel, type UpstreamProxy } from './upstream-proxy.ts';

export interface WayOutOptions {
  readonly policy: AddressPolicy;
  /** Default: the machine's name servers, then the operating system. */
  readonly lookup?: Lookup | undefined;
  /** The operator's own proxy, through which everything goes that it does not except. */
  readonly upstream?: UpstreamProxy | undefined;
}

interface ReachOptions extends OpenOptions {
  /** The account whose document needs the target, where that is known. */
  readonly account?: string | undefined;
}

/**
 * The one way to targets that customers name, for documents and callbacks: looked up once, each address checked by the
 * policy, and connected to at a checked address, directly or through the operator's proxy.
 */
export class WayOut {
  readonly #options: WayOutOptions;
  readonly #lookup: Lookup;

  constructor(options: WayOutOptions) {
    this.#options = options;
    this.#lookup = options.lookup ?? systemLookup();
  }

  /** @param options `timeoutMs` counts for name servers, and again for the connection. @throws EgressError */
  async reach(target: Target, options: ReachOptions): Promise<Socket> {
    const { upstream } = this.#options;
    if (upstream === undefined || upstream.isDirect(target)) {
      return await openSocket(target, await this.#checked(target, options), options);
    }
    const named = upstream.lookup === 'proxy' && target.host.kind === 'name';
    const hosts = named ? [nameForProxy(target)] : await this.#checked(target, options);
    return await openTunnel(upstream, target, hosts, options);
  }

  #checked(target: Target, { timeoutMs, signal, account }: ReachOptions): Promise<readonly string[]> {
    const { policy } = this.#options;
    return resolveChecked(target, { policy, lookup: this.#lookup, timeoutMs, signal, account });
  }
}

/** Names that never mean a public host: RFC 6761, 6762, 8375, and ICANN's reservation of .internal. */
const PRIVATE_NAME = /^[^.]*$|\.(?:internal|local|home\.arpa)$/;

/** A name that the proxy looks up: which addresses it may lead to is then up to the proxy. */
function nameForProxy({ host: { text }, port }: Target): string {
  const problem = isAllowedPort(port) ? undefined : `port ${port} is not open to HTTP`;
  if (problem !== undefined || isLocalhost(text)) {
    throw new EgressError('blocked', `${text} may not be reached.`, problem ?? 'loopback');
  }
  if (PRIVATE_NAME.test(text)) {
    throw new EgressError('unresolvable', noHost(text), 'a private name', { refused: true });
  }
  return text;
}
