import { Agent, buildConnector } from 'undici';
import { PlatenError } from '../errors/registry.ts';
import { EgressError } from './errors.ts';
import { parseHost, type Target } from './host.ts';
import { WayOut, type WayOutOptions } from './way-out.ts';

interface GuardedAgentOptions extends WayOutOptions {
  /** Longest wait for name servers, again for the connection, again for TLS; milliseconds, default 10,000. */
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
export function createGuardedAgent({
  ca,
  connectTimeoutMs = 10_000,
  ...options
}: GuardedAgentOptions): Agent {
  const wayOut = new WayOut(options);
  const secure = buildConnector({
    ...(ca === undefined ? {} : { ca }),
    timeout: connectTimeoutMs,
    allowH2: false,
    maxCachedSessions: 0,
  });

  const reach = async (request: buildConnector.Options) =>
    // Nothing aborts a connection but its time.
    await wayOut.reach(targetOf(request), {
      timeoutMs: connectTimeoutMs,
      signal: new AbortController().signal,
    });

  const connect: buildConnector.connector = (request, callback) => {
    reach(request).then(
      (socket) => {
        if (request.protocol === 'https:') secure({ ...request, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: unknown) => callback(toPlatenError(error), null),
    );
  };
  return new Agent({ connect, keepAliveTimeout: 1000, keepAliveMaxTimeout: 5000 });
}

function targetOf({ hostname, port, protocol }: buildConnector.Options): Target {
  const host = parseHost(hostname);
  if (!host) throw new EgressError('blocked', `${hostname} is not a host.`, 'no host');
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

function toPlatenError(error: unknown): PlatenError {
  if (!(error instanceof EgressError)) return new PlatenError('INTERNAL', undefined, { cause: error });
  const code = error.code === 'blocked' ? 'URL_BLOCKED' : 'URL_UNREACHABLE';
  return new PlatenError(code, error.message, {
    cause: error,
    permanent: error.code === 'unresolvable',
  });
}
