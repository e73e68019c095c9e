import { STATUS_CODES } from 'node:http';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { ERRORS, type ErrorCode } from '../../infra/errors/registry.ts';
import { errorBodySchema } from '../request/error-body-schema.ts';

/** Headers of many responses, with their descriptions. */
export const COMMON_HEADERS = {
  'RateLimit-Policy':
    'The rates that the plan allows, one for each kind of request of this credential: `q` requests in `w` seconds.',
  RateLimit: 'The kind of this request: `r` requests are left for the next `t` seconds.',
  'Retry-After': 'Seconds after which the same request can succeed.',
  'WWW-Authenticate': 'The credential that is needed; with `error` if an access token was rejected.',
};
type CommonHeader = keyof typeof COMMON_HEADERS;

/** On every response to an authenticated caller, also on errors: draft-ietf-httpapi-ratelimit-headers-10. */
export const RATE_HEADERS = ['RateLimit-Policy', 'RateLimit'] as const;
const ERROR_HEADERS: Readonly<Record<number, readonly CommonHeader[]>> = {
  // A caller is not known before that.
  401: ['WWW-Authenticate'],
  409: [...RATE_HEADERS, 'Retry-After'],
  429: [...RATE_HEADERS, 'Retry-After'],
  503: [...RATE_HEADERS, 'Retry-After'],
};
const STATUSES = [...new Set(Object.values(ERRORS).map(({ status }) => status))]
  .filter((status) => status >= 400)
  .sort((a, b) => a - b);

/** A response for each status that an error has, which all operations share. */
export function errorComponents(): Record<string, ZodOpenApiResponseObject> {
  return Object.fromEntries(
    STATUSES.map((status) => [
      nameOf(status),
      {
        description: `${STATUS_CODES[status]}. \`code\` says which error it is.`,
        headers: commonHeaders(ERROR_HEADERS[status] ?? RATE_HEADERS),
        content: { 'application/json': { schema: errorBodySchema } },
      },
    ]),
  );
}

/** References to these, with the codes of one operation. */
export function errorResponses(codes: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => [
      String(status),
      {
        $ref: `#/components/responses/${nameOf(status)}` as const,
        description: `${STATUS_CODES[status]}: ${own.map((code) => `\`${code}\``).join(', ')}`,
      },
    ]),
  );
}

export function commonHeaders(names: readonly CommonHeader[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]));
}

/** `Payload Too Large` as `PayloadTooLarge`. */
function nameOf(status: number): string {
  return STATUS_CODES[status]!.replace(/\W/g, '');
}
