import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import type { OpenOptions } from './connect.ts';
import { EgressError } from './errors.ts';
import type { Target } from './host.ts';
import { isInNetwork, network, parseAddress, unmapped } from './networks.ts';

/** Who looks up the names of targets behind a proxy. */
export type ProxyLookup = 'here' | 'proxy';

/** The proxy of an organisation, through which its network is left. */
export interface UpstreamProxy {
  readonly url: URL;
  readonly lookup: ProxyLookup;
  /** Whether a target is connected to directly. */
  readonly isDirect: (target: Target) => boolean;
}

/** The most responses to CONNECT that are waited for: a name may have hundreds of addresses. */
const MAX_TRIES = 2;

/**
 * The upstream proxy that the environment names.
 *
 * @param url of http or https, with a user name and a password where the proxy wants them; undefined for none.
 * @param noProxy what is connected to directly: see `directTargets`.
 */
export function upstreamProxy(
  url: string | undefined,
  noProxy: readonly string[],
  lookup: ProxyLookup,
): UpstreamProxy | undefined {
  return url === undefined ? undefined : { url: new URL(url), lookup, isDirect: directTargets(noProxy) };
}

/**
 * What NO_PROXY means to curl, Go and Python alike: `*` is everything, `example.com` and `.example.com` a name and all
 * names below it, an address or a CIDR block the literal addresses in it; each may be followed by a port.
 */
export function directTargets(entries: readonly string[]): (target: Target) => boolean {
  const tests = entries.map((entry) => entry.trim().toLowerCase()).map(directTest);
  return (target) => tests.some((test) => test(target));
}

function directTest(entry: string): (target: Target) => boolean {
  if (entry === '*') return () => true;
  const [, bracketed, plain = '', port] = /^(?:\[(.+)\]|(.*?))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const whole = isIPv6(entry) || entry.includes('/');
  const text = whole ? entry : (bracketed ?? plain);
  const ofPort = (target: Target) => whole || port === undefined || target.port === Number(port);
  if (text.includes('/') || parseAddress(text) !== undefined) {
    const block = network(text);
    return (target) => {
      const address = target.host.kind === 'address' ? parseAddress(target.host.text) : undefined;
      return address !== undefined && ofPort(target) && isInNetwork(unmapped(address), block);
    };
  }
  const name = text.replace(/^\*?\./, '');
  return (target) =>
    name !== '' &&
    target.host.kind === 'name' &&
    ofPort(target) &&
    (target.host.text === name || target.host.text.endsWith(`.${name}`));
}

/**
 * A tunnel through `proxy` to the first of `hosts` that it connects to (RFC 9110, section 9.3.6).
 *
 * @param hosts the checked addresses of `target`, or its name where the proxy looks names up.
 * @throws EgressError `unreachable` when the proxy gives none in time, or the signal ends the attempt.
 */
export async function openTunnel(
  { url }: UpstreamProxy,
  target: Target,
  hosts: readonly string[],
  { timeoutMs, signal }: OpenOptions,
): Promise<Socket> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  // Few proxies have IPv6.
  const order = [...hosts].sort((a, b) => Number(isIPv6(a)) - Number(isIPv6(b))).slice(0, MAX_TRIES);
  let problem: unknown;
  for (const host of order) {
    const authority = `${isIPv6(host) ? `[${host}]` : host}:${target.port}`;
    try {
      const socket = await connectThrough(url, authority, deadline);
      // A socket without a listener brings the process down when it breaks.
      return addAbortSignal(
        signal,
        socket.on('error', () => undefined),
      );
    } catch (error) {
      problem = error;
      if (deadline.aborted) break;
    }
  }
  throw new EgressError('unreachable', `${target.host.text} does not respond.`, String(problem), {
    cause: problem,
    byProxy: !signal.aborted,
  });
}

function connectThrough(proxy: URL, authority: string, signal: AbortSignal): Promise<Socket> {
  const secure = proxy.protocol === 'https:';
  const options: RequestOptions = {
    hostname: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port === '' ? (secure ? 443 : 80) : proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorization(proxy) },
    setHost: false,
    agent: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    const asked = (secure ? httpsRequest : httpRequest)(options);
    asked.once('connect', ({ statusCode }, duplex, head) => {
      // Node passes a Duplex, which for a client is always the Socket.
      const socket = duplex as Socket;
      if (statusCode !== 200) {
        socket.destroy();
        return reject(new Error(`the proxy ${proxy.host} responded ${statusCode} to CONNECT ${authority}`));
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    // Some proxies respond to a CONNECT that they reject as to any other request.
    asked.once('response', (response) => {
      response.destroy();
      reject(new Error(`the proxy ${proxy.host} responded ${response.statusCode} to CONNECT ${authority}`));
    });
    asked.on('error', (error) => reject(new Error(`the proxy ${proxy.host}: ${error.message}`)));
    asked.end();
  });
}

function authorization({ username, password }: URL): { 'proxy-authorization'?: string } {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
