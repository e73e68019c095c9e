import { STATUS_CODES } from 'node:http';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { ERRORS, type ErrorCode } from '../../infra/errors/registry.ts';
import { BUILD } from '../../infra/version.ts';
import { secureNameOf } from '../request/cookies.ts';
import { errorBodySchema } from '../request/error-body-schema.ts';
import type { Auth, ResponseLinks, ResponseSpec, RouteDeclaration } from '../request/route.ts';
import { SESSION_COOKIE } from '../request/session-cookie.ts';

export type ApiDocument = ReturnType<typeof createDocument>;

const SECURITY: Record<Auth, Record<string, string[]>[]> = {
  apiKey: [{ apiKey: [] }],
  bearer: [{ bearer: [] }, { session: [] }],
  page: [],
  // Not part of the document: it is served on the port of operations alone.
  operator: [],
  none: [],
};
const AUTH_ERRORS: Record<Auth, readonly ErrorCode[]> = {
  apiKey: [
    'UNAUTHENTICATED',
    'ACCOUNT_SUSPENDED',
    'ADDRESS_NOT_ALLOWED',
    'RATE_LIMITED',
    'TOO_MANY_WAITING',
    'UNAVAILABLE',
  ],
  bearer: ['UNAUTHENTICATED', 'ACCOUNT_SUSPENDED', 'RATE_LIMITED', 'TOO_MANY_WAITING', 'UNAVAILABLE'],
  page: ['ORIGIN_NOT_ALLOWED'],
  operator: ['UNAUTHENTICATED', 'ORIGIN_NOT_ALLOWED'],
  none: [],
};
/** Headers of many responses, with their descriptions. */
const COMMON_HEADERS = {
  'RateLimit-Policy':
    'What the plan allows, for each kind of request that this credential can make: `q` of them in `w` seconds.',
  RateLimit: 'The kind that this request counted in: `r` are left, for `t` seconds.',
  'Retry-After': 'Seconds after which the same request can succeed.',
  'WWW-Authenticate': 'The credential that is wanted; `error` when an access token was refused.',
};
type CommonHeader = keyof typeof COMMON_HEADERS;
/** On every response to an authenticated caller, also on errors: draft-ietf-httpapi-ratelimit-headers-10. */
const RATE_HEADERS = ['RateLimit-Policy', 'RateLimit'] as const;
/** Headers of errors, by status. */
const ERROR_HEADERS: Readonly<Record<number, readonly CommonHeader[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};
const BODY_ERRORS: readonly ErrorCode[] = [
  'UNSUPPORTED_MEDIA_TYPE',
  'MALFORMED_JSON',
  'INPUT_TOO_LARGE',
  'UPLOAD_TOO_SLOW',
  'TOO_MANY_UPLOADS',
  'UNAVAILABLE',
];

/** The OpenAPI 3.1 document of declared routes. */
export function createApiDocument(
  routes: readonly RouteDeclaration[],
  options: { readonly headerPrefix: string },
): ApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes.filter(({ internal }) => internal !== true)) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route, options.headerPrefix) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Platen',
      version: BUILD.version,
      description: 'Renders HTML, web pages and saved templates as PDF.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      headers: headersOf(COMMON_HEADERS),
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: secureNameOf(SESSION_COOKIE),
          description: `Of a browser that has signed in by \`POST /auth/session\`; \`${SESSION_COOKIE.name}\` over plain http. \`Authorization\` wins over it. Whatever is no GET has to come from a page of the public origin.`,
        },
      },
    },
  });
}

function operationOf(route: RouteDeclaration, headerPrefix: string): ZodOpenApiOperationObject {
  const { params, query, headers, body, rawBody } = route;
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [...route.tags],
    security: SECURITY[route.auth],
    requestParams: {
      ...(params && { path: params }),
      ...(query && { query }),
      ...(headers && { header: headers }),
    },
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    ...(rawBody && {
      requestBody: {
        required: true,
        description: rawBody.description,
        content: { 'application/json': { schema: {} } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, spec]) => [
          status,
          responseOf(spec, headerPrefix, route.auth),
        ]),
      ),
      ...errorResponses(errorsOf(route), route.auth),
    },
  };
}

/** Every error code of a route: its own codes, and the codes of its authentication and its schemas. */
export function errorsOf(route: RouteDeclaration): ErrorCode[] {
  const hasSchemas = route.params ?? route.query ?? route.headers ?? route.body;
  return [
    ...new Set([
      ...(hasSchemas ? (['VALIDATION'] as const) : []),
      ...(route.body ? BODY_ERRORS : []),
      ...AUTH_ERRORS[route.auth],
      ...(route.auth === 'bearer' && route.method !== 'get' ? (['ORIGIN_NOT_ALLOWED'] as const) : []),
      ...(needsRoom(route) ? (['UNAVAILABLE'] as const) : []),
      ...(route.errors ?? []),
      'INTERNAL' as const,
    ]),
  ];
}

/** Whether it is rejected with a code of its own when its change cannot be kept. */
function needsRoom({ method, withoutRoom, rawBody }: RouteDeclaration): boolean {
  return method !== 'get' && withoutRoom !== 'unconfirmed' && rawBody?.rejectedAs === undefined;
}

function responseOf(spec: ResponseSpec, headerPrefix: string, auth: Auth): ZodOpenApiResponseObject {
  const { description, schema, contentType, serviceHeaders = {}, links } = spec;
  const own = Object.entries(serviceHeaders).map(([name, meaning]) => [`${headerPrefix}${name}`, meaning]);
  return {
    description,
    headers: {
      ...(isAuthenticated(auth) && commonHeaders(RATE_HEADERS)),
      ...headersOf({ ...spec.headers, ...Object.fromEntries(own) }),
    },
    content: {
      ...(contentType && { [contentType]: { schema: {} } }),
      ...(schema && { 'application/json': { schema } }),
    },
    ...(links && { links: linksOf(links, headerPrefix) }),
  };
}

function linksOf(
  { operations, names }: ResponseLinks,
  headerPrefix: string,
): ZodOpenApiResponseObject['links'] {
  const links = operations.map((operation) => {
    const [method = '', path = ''] = operation.split(' ');
    const target = operationId({ method: method.toLowerCase(), path });
    const parameters = Object.entries(names)
      .filter(([name]) => path.split('/').includes(`:${name}`))
      .map(([name, source]) => [
        name,
        'field' in source
          ? `$response.body#/${source.field}`
          : `$response.header.${headerPrefix}${source.serviceHeader}`,
      ]);
    return [target, { operationId: target, parameters: Object.fromEntries(parameters) }];
  });
  return Object.fromEntries(links);
}

function headersOf(meanings: Readonly<Record<string, string>>) {
  const headers = Object.entries(meanings).map(
    ([name, meaning]) => [name, { description: meaning, schema: { type: 'string' as const } }] as const,
  );
  return Object.fromEntries(headers);
}

function commonHeaders(names: readonly CommonHeader[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]));
}

function errorResponses(codes: readonly ErrorCode[], auth: Auth): Record<string, ZodOpenApiResponseObject> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => [
      String(status),
      {
        description: `${STATUS_CODES[status]}: ${own.map((code) => `\`${code}\``).join(', ')}`,
        headers: commonHeaders([
          // Except for 401, the caller is known by then.
          ...(isAuthenticated(auth) && status !== 401 ? RATE_HEADERS : []),
          ...(ERROR_HEADERS[status] ?? []),
          ...(own.includes('IDEMPOTENCY_IN_PROGRESS') ? (['Retry-After'] as const) : []),
        ]),
        content: { 'application/json': { schema: errorBodySchema } },
      },
    ]),
  );
}

/** Whether callers of the route are authenticated, so that their rates are counted. */
function isAuthenticated(auth: Auth): boolean {
  return auth === 'apiKey' || auth === 'bearer';
}

/** `GET /v1/pdf/jobs/:id/file` → `get_v1_pdf_jobs_id_file`. */
function operationId(route: { readonly method: string; readonly path: string }): string {
  return [route.method, ...route.path.split(/\W+/).filter((part) => part !== '')].join('_');
}
