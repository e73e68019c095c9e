import type { Request } from 'express';
import type { Auth } from './route.ts';

const REALM = 'realm="platen"';
/** RFC 6750, section 2.1: the scheme, and something behind it. */
const WITH_TOKEN = /^bearer +\S/i;

/**
 * What WWW-Authenticate says on a 401 (RFC 9110, section 11.6.1): which credential the route wants.
 *
 * No scheme is registered for keys with a header of their own; `ApiKey` is what services mostly call it, and browsers ask
 * nobody for a password when they meet it. A route that wants no credential answers 401 to a password that is wrong: what
 * it would have given is a bearer token.
 */
export function challengeOf(auth: Auth, request: Request): string {
  if (auth === 'apiKey') return `ApiKey ${REALM}, header="X-API-Key"`;
  // RFC 6750, section 3.1: a request without a token is not told that there is something wrong with it.
  const isRefused = auth === 'bearer' && WITH_TOKEN.test(request.headers.authorization ?? '');
  return `Bearer ${REALM}${isRefused ? ', error="invalid_token"' : ''}`;
}
