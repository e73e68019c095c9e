import type { IncomingHttpHeaders } from 'node:http';

/** RFC 9110, section 11.4: a scheme, its name in any case, and what it carries. */
const CREDENTIALS = /^(basic|bearer) +([\x21-\x7e]+) *$/i;

/**
 * The API key of a request: that of `X-API-Key`, or else of `Authorization`, as `Bearer KEY` or as `Basic` with the key as
 * the user and an empty password, which is what `curl -u KEY:` sends. An access token of an account is no key, and is
 * rejected like an unknown one.
 *
 * @returns undefined when there is none.
 */
export function apiKeyIn({ 'x-api-key': own, authorization }: IncomingHttpHeaders): string | undefined {
  if (own !== undefined) return typeof own === 'string' && own !== '' ? own : undefined;
  const [, scheme, value] = CREDENTIALS.exec(authorization ?? '') ?? [];
  if (scheme === undefined || value === undefined) return undefined;
  if (scheme.toLowerCase() === 'bearer') return value;
  return /^(.+):$/s.exec(Buffer.from(value, 'base64').toString())?.[1];
}
