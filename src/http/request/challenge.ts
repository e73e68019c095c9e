import type { Request } from 'express';
import type { Auth } from './route.ts';

const REALM = 'realm="platen"';
/** RFC 6750, section 2.1: the scheme, followed by a token. */
const WITH_TOKEN = /^bearer +\S/i;

/**
 * The value of WWW-Authenticate on a 401 (RFC 9110, section 11.6.1): the credential that the route requires.
 *
 * No scheme is registered for keys in a header of their own; `ApiKey` is the usual name, and browsers do not ask for a
 * password when they meet it. A route without a credential responds with 401 to a wrong password: with the right one,
 * it would have issued a bearer token.
 */
export function challengeOf(auth: Auth, request: Request): string {
  if (auth === 'apiKey') return `ApiKey ${REALM}, header="X-API-Key"`;
  // A browser asks for the token as a password, and shows the pages with it.
  if (auth === 'operator') return `Basic realm="platen administration", charset="UTF-8"`;
  // RFC 6750, section 3.1: a request without a token gets no error code.
  const isRejected = auth === 'bearer' && WITH_TOKEN.test(request.headers.authorization ?? '');
  return `Bearer ${REALM}${isRejected ? ', error="invalid_token"' : ''}`;
}
