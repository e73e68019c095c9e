import { Agent, buildConnector } from 'undici';
import { PlatenError } from '../errors/registry.ts';
import type { AddressPolicy } from './address-policy.ts';
import { pinnedLookup } from './connect.ts';
import { EgressError } from './errors.ts';
import { parseHost } from './host.ts';
import { type Lookup, systemLookup } from './lookup.ts';
import { resolveChecked } from './resolve.ts';

interface GuardedAgentOptions {
  readonly policy: AddressPolicy;
  /** Default: the machine's name servers, then the operating system. */
  readonly lookup?: Lookup;
  /**
   * Longest wait for name servers, and again for the connection with its TLS handshake, in milliseconds. Default
   * 10,000.
   */
  readonly connectTimeoutMs?: number;
  /** Certificates to trust instead of the usual ones, as PEM text. */
  readonly ca?: string;
}

/**
 * An undici dispatcher for requests to addresses that customers name (callbacks).
 *
 * Every connection is looked up once, checked, and made to the checked address, with the name kept for SNI, the
 * certificate and Host. A request that it refuses rejects with PlatenError URL_BLOCKED; one whose host does not exist
 * or cannot be looked up with URL_UNREACHABLE. `fetch` wraps these as `cause`; undici's own `request` does not, and
 * follows no redirects.
 */
export function createGuardedAgent(options: GuardedAgentOptions): Agent {
  const { policy, ca } = options;
  const lookup = options.lookup ?? systemLookup();
  const timeoutMs = options.connectTimeoutMs ?? 10_000;

  const connect: buildConnector.connector = (request, callback) => {
    checkedAddresses(request, { policy, lookup, timeoutMs }).then(
      (addresses) => {
        const connector = buildConnector({
          ...(ca === undefined ? {} : { ca }),
          lookup: pinnedLookup(addresses),
          autoSelectFamily: true,
          timeout: timeoutMs,
          allowH2: false,
          maxCachedSessions: 0,
        });
        connector(request, callback);
      },
      (error: unknown) => callback(toPlatenError(error), null),
    );
  };
  return new Agent({ connect, keepAliveTimeout: 1000, keepAliveMaxTimeout: 5000 });
}

async function checkedAddresses(
  { hostname, port, protocol }: buildConnector.Options,
  options: Parameters<typeof resolveChecked>[1],
): Promise<readonly string[]> {
  const host = parseHost(hostname);
  if (!host) throw new EgressError('blocked', `${hostname} is not a host.`, 'no host');
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  return await resolveChecked({ host, port: number }, options);
}

function toPlatenError(error: unknown): PlatenError {
  if (!(error instanceof EgressError)) return new PlatenError('INTERNAL', undefined, { cause: error });
  const code = error.code === 'blocked' ? 'URL_BLOCKED' : 'URL_UNREACHABLE';
  return new PlatenError(code, error.message, {
    cause: error,
    permanent: error.code === 'unresolvable',
  });
}
