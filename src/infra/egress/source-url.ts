import { PlatenError } from '../errors/registry.ts';
import type { AddressPolicy } from './address-policy.ts';
import { isLocalhost, targetOf } from './host.ts';
import { isAllowedPort } from './ports.ts';

/** Longest source URL, in characters. */
export const MAX_URL_LENGTH = 8192;

/**
 * Parses `text` as a URL, and checks it as far as possible without a lookup; what names resolve to is checked when the
 * connection is made.
 *
 * @param name what errors call it, at the beginning of a sentence.
 * @throws PlatenError INVALID_URL when it is no http or https URL, holds a user name or password, or is too long;
 * URL_BLOCKED when its address or port is refused by the policy.
 */
export function checkSourceUrl(text: string, policy: AddressPolicy, name = 'The source URL'): URL {
  if (text.length > MAX_URL_LENGTH) {
    throw new PlatenError('INVALID_URL', `${name} is longer than ${MAX_URL_LENGTH} characters.`);
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new PlatenError('INVALID_URL');
  if (url.username !== '' || url.password !== '') {
    throw new PlatenError(
      'INVALID_URL',
      `${name} must not hold a user name or password; send them in options.assetHeaders.`,
    );
  }
  const target = targetOf(url);
  if (!target) throw new PlatenError('INVALID_URL');
  if (!isAllowedPort(target.port)) {
    throw new PlatenError('URL_BLOCKED', `${name} has the port ${target.port}, which is not open to HTTP.`);
  }
  const address = literalAddress(target.host);
  const verdict = address === undefined ? { allowed: true as const } : policy.check(address);
  if (!verdict.allowed) {
    throw new PlatenError('URL_BLOCKED', `${name} leads to ${address}, which may not be reached.`);
  }
  return url;
}

/** The address of a host that needs no name server: itself, or loopback for `localhost` (RFC 6761). */
function literalAddress(host: { kind: 'address' | 'name'; text: string }): string | undefined {
  if (host.kind === 'address') return host.text;
  return isLocalhost(host.text) ? '127.0.0.1' : undefined;
}
