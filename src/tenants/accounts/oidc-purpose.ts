import type { JWTPayload, ProtectedHeaderParameters } from 'jose';

/**
 * Values of the header `typ` of tokens that speak for a person: ID tokens and most access tokens (`JWT`, or none), and
 * access tokens of RFC 9068. Other profiles name themselves: `logout+jwt`, `secevent+jwt`, `dpop+jwt` and more.
 */
const JWT = 'jwt';
const ACCESS_TOKEN = 'at+jwt';

/** Claims that only ID tokens have: OpenID Connect Core 1.0, sections 2 and 3.3.2.11. */
const OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash', 's_hash'] as const;
/** Claims by which access tokens of common issuers say what their client may do; ID tokens have none of them. */
const OF_ACCESS_TOKENS = [
  'scope',
  'scp',
  'client_id',
  'cid',
  'roles',
  'permissions',
  'azpacr',
  'gty',
] as const;

/**
 * Whether a token of the issuer, whose audience includes this service, is meant for this service: an access token, or
 * an ID token that its own client was given. An ID token of another client is for that client to read
 * (OpenID Connect Core 1.0, 3.1.3.7), and every user of that client would hand it their account here.
 *
 * @param own this service's audience and its client, if it has one.
 */
export function isMeantFor(
  { typ }: ProtectedHeaderParameters,
  payload: JWTPayload,
  own: readonly (string | undefined)[],
): boolean {
  const profile = profileOf(typ);
  if (profile === ACCESS_TOKEN) return true;
  if (profile !== JWT) return false;
  const { azp, aud } = payload;
  if (isIdToken(payload)) {
    const isForOne = typeof aud === 'string' || aud?.length === 1;
    return azp === undefined ? isForOne : own.includes(azp as string);
  }
  return azp === undefined || own.includes(azp as string) || isAccessToken(payload);
}

/** A media type without `application/`, in lower case: RFC 7515, section 4.1.9. */
function profileOf(typ: string | undefined): string {
  return (typ ?? JWT).toLowerCase().replace(/^application\//, '');
}

function isIdToken(payload: JWTPayload): boolean {
  // Keycloak and Cognito name the kind in a claim; access tokens of older Keycloaks have a nonce as well.
  if (payload.typ === 'Bearer') return false;
  if (payload.typ === 'ID' || payload.token_use === 'id') return true;
  return OF_ID_TOKENS.some((name) => payload[name] !== undefined);
}

function isAccessToken(payload: JWTPayload): boolean {
  return payload.typ === 'Bearer' || OF_ACCESS_TOKENS.some((name) => payload[name] !== undefined);
}
