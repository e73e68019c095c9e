import { isIP } from 'node:net';

/** A host as WHATWG URLs have it: an address in its usual form, without brackets, or a name in ASCII lower case. */
export type Host = { readonly kind: 'address' | 'name'; readonly text: string };

export interface Target {
  readonly host: Host;
  readonly port: number;
}

/** Longest name the DNS can hold (RFC 1035 section 3.1, less the root's own byte). */
const MAX_NAME_LENGTH = 253;

/**
 * The host that `text` means, or undefined when it means none.
 *
 * Decimal, octal, hexadecimal and shortened IPv4 forms are returned as the address that they mean, since resolvers
 * accept them (WHATWG URL standard, "host parsing"); so no returned name is an address in disguise.
 */
export function parseHost(text: string): Host | undefined {
  // Characters that would end the host inside a URL, or start a zone id, do not belong to a host.
  if (text === '' || /[\s/\\?#@%]/.test(text)) return undefined;
  const bare = isIP(text) === 6 ? `[${text}]` : text;
  if (!URL.canParse(`http://${bare}/`)) return undefined;
  const url = new URL(`http://${bare}/`);
  return url.port === '' && !/:\d*$/.test(bare) ? hostOf(url) : undefined;
}

/** The host and port of an http, https, ws or wss URL. */
export function targetOf(url: URL): Target | undefined {
  const host = hostOf(url);
  const secure = url.protocol === 'https:' || url.protocol === 'wss:';
  return host && { host, port: url.port === '' ? (secure ? 443 : 80) : Number(url.port) };
}

/** The target of a CONNECT request: `host:port` (RFC 9112 section 3.2.3). */
export function parseAuthority(text: string): Target | undefined {
  const match = /^(.+):(\d{1,5})$/.exec(text);
  const host = match && parseHost(match[1]!);
  return host ? { host, port: Number(match[2]) } : undefined;
}

/** Whether a name means loopback whatever name servers say (RFC 6761, section 6.3). */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

function hostOf(url: URL): Host | undefined {
  const text = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (text === '' || text.length > MAX_NAME_LENGTH) return undefined;
  return { kind: isIP(text) === 0 ? 'name' : 'address', text };
}
