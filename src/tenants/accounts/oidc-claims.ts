import type { JWTPayload } from 'jose';
import { z } from 'zod';
import { emailSchema } from './sign-in-credentials.ts';

/** The claims of an issuer's token that this service uses. */
export interface OidcClaims {
  readonly subject: string;
  /** In lower case; null unless the issuer claims to have verified it, and mail can be sent to it. */
  readonly email: string | null;
  readonly issuedAt: Date | undefined;
  readonly expiresAt: Date;
}

/** How far the issuer's clock may be off, in seconds. */
export const CLOCK_SKEW_S = 60;

/** Characters of a subject: OpenID Connect Core 1.0, section 2. */
const MAX_SUBJECT = 255;
/** The latest time that a `Date` has, in seconds. */
const MAX_TIME_S = 8_640_000_000_000 - CLOCK_SKEW_S;

const time = z.number().min(0).max(MAX_TIME_S);

/** Claims that name a person for a limited time. Others are for whoever signs them or reads them. */
const claimsSchema = z.object({
  sub: z
    .string()
    .min(1)
    .max(MAX_SUBJECT)
    // Records and logs show it, and the database stores no half of a surrogate pair.
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed()),
  exp: time,
  iat: time.optional(),
  email: z.unknown().optional(),
  email_verified: z.unknown().optional(),
  // A security event, such as a logout: it is about a person, and does not speak for one (RFC 8417, 2.2).
  events: z.undefined().optional(),
});

/**
 * The claims of a token whose signature, audience and times have been checked.
 *
 * @returns undefined when they name nobody, are of a security event, or were issued in the future: such a token would
 * be newer than the revocation of all tokens that is to end it. An address that cannot be signed in with counts as
 * none.
 *
 * @param vouches whether the issuer speaks for the domain of the address, so that an address counts of which it does not
 * say whether it has verified it. Default: only one that it says to have verified does.
 */
export function claimsOf(payload: JWTPayload, now: Date, vouches = false): OidcClaims | undefined {
  const { data } = claimsSchema.safeParse(payload);
  if (data === undefined) return undefined;
  const { sub, exp, iat, email, email_verified: isVerified } = data;
  if (iat !== undefined && iat > now.getTime() / 1000 + CLOCK_SKEW_S) return undefined;
  const counts = isVerified === true || (vouches && isVerified === undefined);
  const address = counts ? emailSchema.safeParse(email).data : undefined;
  return {
    subject: sub,
    email: address?.toLowerCase() ?? null,
    issuedAt: iat === undefined ? undefined : new Date(iat * 1000),
    expiresAt: new Date((exp + CLOCK_SKEW_S) * 1000),
  };
}
