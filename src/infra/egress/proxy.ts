import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AddressPolicy } from './address-policy.ts';
import { forwardRequest, upgradeHead } from './forward.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { parseAuthority, type Target, targetOf } from './host.ts';
import { isInNetwork, network, parseAddress, unmapped } from './networks.ts';
import { type ListenerOpener, listenOnLoopback, ProxyListeners } from './proxy-listeners.ts';
import { rejectMalformed, rejectWithError, respondWithError } from './responses.ts';
import { holdBack, splice } from './tunnel.ts';

export interface EgressLimits {
  /** Longest wait for name servers, and again for a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** A connection without traffic for this long is closed, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Connections from browsers at a time; further ones are closed at once, except those kept for contexts. */
  readonly maxConnections: number;
  /** The most connections through one listener, which serves the documents of one browser context. */
  readonly maxConnectionsOfContext: number;
  /** Connections that each context may have however many others have. */
  readonly keptForContext: number;
  /** Largest head of a request, in bytes: a source URL and asset headers have to fit. */
  readonly maxHeaderBytes: number;
}

const DEFAULT_LIMITS: EgressLimits = {
  connectTimeoutMs: 10_000,
  // The longest deadline of a render: an origin may take as long to respond.
  idleTimeoutMs: 300_000,
  maxConnections: 2048,
  // Chromium opens up to 32 to a proxy at a time, and web sockets.
  maxConnectionsOfContext: 128,
  keptForContext: 32,
  maxHeaderBytes: 64 * 1024,
};

export interface EgressProxyOptions extends GatewayOptions {
  readonly limits?: Partial<EgressLimits>;
  /** Responds to some http requests instead of the network; false for those that it leaves alone. */
  readonly respondLocally?: LocalResponse | undefined;
}

type LocalResponse = (url: URL, request: IncomingMessage, response: ServerResponse) => boolean;

/** The only way out of the browser. */
export interface EgressProxy extends ListenerOpener {
  /** For `--proxy-server`: http://127.0.0.1:PORT. The account of connections to it is not known. */
  readonly url: string;
  /**
   * Whether a connection to `hostname` (of a URL) was rejected by the policy at `sinceEpochMs` or later. Nothing else
   * distinguishes that from other errors: the browser does not show the response to CONNECT, and over TLS an origin may
   * send any header.
   */
  wasBlocked(hostname: string, sinceEpochMs: number): boolean;
  /** Whether `hostname` turned out not to exist, or to have a refused address, at `sinceEpochMs` or later. */
  wasUnresolvable(hostname: string, sinceEpochMs: number): boolean;
  /** Sockets open at the moment, to browsers and to origins. */
  openSockets(): number;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/**
 * Starts the proxy on a free loopback port. For CONNECT (https, web sockets), absolute-form http and absolute-form web
 * socket requests the host is looked up once, checked, and connected to at the checked address; see resolve.ts.
 */
export async function startEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const server = createServer({ maxHeaderSize: limits.maxHeaderBytes, keepAliveTimeout: 60_000 });
  server.maxConnections = limits.maxConnections;
  // A little later than the origin's side, so that the browser still receives the error.
  server.timeout = limits.idleTimeoutMs + 5000;
  const port = await listenOnLoopback(server);
  const clients = new Set<Socket>();
  const listeners = new ProxyListeners(server, {
    maxConnections: limits.maxConnectionsOfContext,
    kept: limits.keptForContext,
    full: () => clients.size >= limits.maxConnections,
  });
  const isOwn = (requested: number) => requested === port || listeners.has(requested);
  const gateway = new Gateway({ ...options, policy: withoutSelf(options.policy, isOwn) });
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };

  server.on('connection', (socket) => {
    track(socket);
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
  });
  serve(server, options.respondLocally ?? (() => false), async (target, client, gone) => {
    const account = listeners.accountOf(client);
    const upstream = await gateway.reach(target, limits.connectTimeoutMs, gone, account);
    track(upstream);
    upstream.setTimeout(limits.idleTimeoutMs, () => upstream.destroy());
    return upstream;
  });

  return {
    url: `http://127.0.0.1:${port}`,
    openListener: () => listeners.openListener(),
    wasBlocked: (hostname, since) => gateway.wasBlocked(hostname, since),
    wasUnresolvable: (hostname, since) => gateway.wasUnresolvable(hostname, since),
    openSockets: () => sockets.size,
    async close() {
      listeners.close();
      const stopped = new Promise((resolve) => server.close(resolve));
      const ended = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all([stopped, ...ended]);
    },
  };
}

/** Opens a connection to `target` for a client of the proxy; the connection ends when `gone` fires. */
type Reach = (target: Target, client: Socket, gone: AbortSignal) => Promise<Socket>;

function serve(server: Server, reply: LocalResponse, reach: Reach): void {
  // Node passes a Duplex, which for a server on plain TCP is always the Socket.
  server.on('connect', (request, duplex, head) => {
    const client = duplex as Socket;
    const target = parseAuthority(request.url ?? '');
    if (!target) return rejectMalformed(client, 'The target is not host:port.');
    const release = holdBack(client, head);
    reach(target, client, goneWith(client)).then((upstream) => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      splice(client, upstream, release());
    }, rejectWithError(client));
  });

  server.on('upgrade', (request, duplex, head) => {
    const client = duplex as Socket;
    const { url, target } = absoluteForm(request);
    if (!target) return rejectMalformed(client, 'The target is not an absolute http or ws address.');
    const release = holdBack(client, head);
    reach(target, client, goneWith(client)).then((upstream) => {
      upstream.write(upgradeHead(request, url));
      splice(client, upstream, release());
    }, rejectWithError(client));
  });

  server.on('request', (request, response) => {
    const { url, target } = absoluteForm(request);
    if (!target) return rejectMalformed(request.socket, 'The target is not an absolute http address.');
    if (reply(url, request, response)) return;
    reach(target, request.socket, goneWith(response))
      .then((upstream) => forwardRequest(request, response, url, upstream))
      .catch(respondWithError(response));
  });
}

/** Fires when the browser is gone, or has its whole response. */
function goneWith(client: Socket | ServerResponse): AbortSignal {
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  // Without a listener an error would end the process; 'close' follows every error.
  client.on('error', () => client.destroy());
  return gone.signal;
}

/** The URL of an absolute-form request for a scheme that is served here without TLS. */
function absoluteForm(
  request: IncomingMessage,
): { url: URL; target: Target } | { url?: undefined; target?: undefined } {
  const text = request.url ?? '';
  if (!/^(http|ws):\/\//i.test(text) || !URL.canParse(text)) return {};
  const url = new URL(text);
  const target = targetOf(url);
  return target ? { url, target } : {};
}

/** Both lead to 127.0.0.1 on Linux. */
const SELF = [network('127.0.0.0/8'), network('0.0.0.0/8')];

/** Never through the proxy to itself, even where loopback is open: that would be an endless loop. */
function withoutSelf(policy: AddressPolicy, isOwn: (port: number) => boolean): AddressPolicy {
  return {
    check(text, port) {
      const verdict = policy.check(text, port);
      const address = parseAddress(text);
      if (!verdict.allowed || port === undefined || !isOwn(port) || !address) return verdict;
      const loops = SELF.some((block) => isInNetwork(unmapped(address), block));
      return loops ? { allowed: false, reason: 'the egress proxy itself' } : verdict;
    },
  };
}
