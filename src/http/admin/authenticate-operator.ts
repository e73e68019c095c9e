import type { Request } from 'express';
import type { Operator, Operators } from '../../config/operators.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { clientAddress } from '../request/client-address.ts';
import { requireSameOrigin } from '../request/same-origin.ts';

const BEARER = /^bearer +(\S+) *$/i;
const BASIC = /^basic +([A-Za-z0-9+/]+=*) *$/i;
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Authenticates operators: programs by `Authorization: Bearer TOKEN`, browsers by Basic authentication (RFC 7617) with
 * the token as the password, which they ask for themselves. A browser sends that with requests of other sites as well,
 * so changes are accepted from pages of this very origin alone.
 *
 * @throws (from the returned function) PlatenError UNAUTHENTICATED; ORIGIN_NOT_ALLOWED.
 */
export function operatorAuthenticator(operators: Operators): (request: Request) => Promise<Operator> {
  return async (request) => {
    const { authorization = '', host } = request.headers;
    const token = BEARER.exec(authorization)?.[1] ?? passwordIn(BASIC.exec(authorization)?.[1]);
    const name = token === undefined ? undefined : operators.nameOf(token);
    if (name === undefined) throw new PlatenError('UNAUTHENTICATED', 'A token of an operator is required.');
    const { 'sec-fetch-site': site, origin } = request.headers;
    // Programs send neither header; browsers send one of them with every change.
    const isOfPage = site !== undefined || origin !== undefined || BASIC.test(authorization);
    if (isOfPage && !SAFE_METHODS.has(request.method))
      requireSameOrigin(request, `${request.protocol}://${host}`);
    return { operator: name, ipAddress: clientAddress(request) };
  };
}

function passwordIn(credentials: string | undefined): string | undefined {
  if (credentials === undefined) return undefined;
  const text = Buffer.from(credentials, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}
