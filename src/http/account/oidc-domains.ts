import { z } from 'zod';

/** Characters of a domain (RFC 1035, section 3.1). */
const MAX_DOMAIN = 253;
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

/** The part of an address after the @, in lower case. */
export const mailDomainSchema = z
  .string()
  .max(MAX_DOMAIN)
  .toLowerCase()
  .regex(DOMAIN, 'must be the domain of mail addresses, such as example.com');

/** Where the issuer of a domain sends browsers back to. */
export function domainCallback(publicUrl: string, domain: string): string {
  return `${publicUrl}/auth/oidc/callback/${domain}`;
}
