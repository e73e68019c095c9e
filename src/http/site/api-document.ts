import { type ZodObject, type ZodType, z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { ErrorCode } from '../../infra/errors/registry.ts';
import { BUILD } from '../../infra/version.ts';
import { secureNameOf } from '../request/cookies.ts';
import { FORM_TYPE } from '../request/read-form.ts';
import type { Auth, FormBody, ResponseLinks, ResponseSpec, RouteDeclaration } from '../request/route.ts';
import { SESSION_COOKIE } from '../request/session-cookie.ts';
import { describeProperties } from './common-descriptions.ts';
import {
  COMMON_HEADERS,
  commonHeaders,
  errorComponents,
  errorResponses,
  RATE_HEADERS,
} from './error-responses.ts';
import { addExamples } from './examples.ts';
import { simplifySchemas } from './plain-schemas.ts';
import { TAGS, type Tag } from './tags.ts';
import { webhooks } from './webhooks.ts';

export type ApiDocument = ReturnType<typeof createDocument>;

const SECURITY: Record<Auth, Record<string, string[]>[]> = {
  apiKey: [{ apiKey: [] }],
  // A browser's session is accepted as well; generated clients cannot keep its cookie, and would send none at all.
  bearer: [{ bearer: [] }],
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
const BODY_ERRORS: readonly ErrorCode[] = [
  'UNSUPPORTED_MEDIA_TYPE',
  'MALFORMED_JSON',
  'INPUT_TOO_LARGE',
  'UPLOAD_TOO_SLOW',
  'TOO_MANY_UPLOADS',
  'UNAVAILABLE',
];

/** The OpenAPI 3.1 document of declared routes, in a form that generators of clients can read. */
export function createApiDocument(
  declared: readonly RouteDeclaration[],
  { headerPrefix }: { readonly headerPrefix: string },
): ApiDocument {
  const routes = declared.filter(({ internal }) => internal !== true);
  const operationIds = new Map(
    routes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, idOf(route)]),
  );
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route, { headerPrefix, operationIds }) };
  }
  const tags = new Set(routes.flatMap((route) => route.tags));
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Platen',
      version: BUILD.version,
      description: 'Renders HTML, web pages and saved templates as PDF.',
    },
    servers: [{ url: '/', description: 'The installation that serves this document.' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => tags.has(name as Tag))
      .map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhooks(headerPrefix),
    components: {
      headers: headersOf(COMMON_HEADERS),
      responses: errorComponents(),
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description:
            'An API key. Instead of this header, `Authorization` may hold it: as `Bearer KEY`, or as `Basic` with the key as the user and an empty password.',
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: `An access token, from \`POST /auth/login\`. A browser that has signed in by \`POST /auth/session\` sends the cookie \`${secureNameOf(SESSION_COOKIE)}\` instead (\`${SESSION_COOKIE.name}\` over plain http); its requests other than GET must come from a page of the public origin. If both are sent, \`Authorization\` is used.`,
        },
      },
    },
  });
  Object.assign(document.components?.schemas ?? {}, alternativeSchemas(routes));
  simplifySchemas(document);
  describeProperties(document);
  addExamples(document);
  return document;
}

/** Parts of the document that an operation refers to. */
interface Surroundings {
  readonly headerPrefix: string;
  /** By method and path: `GET /v1/pdf/jobs/:id`. */
  readonly operationIds: ReadonlyMap<string, string>;
}

function operationOf(route: RouteDeclaration, around: Surroundings): ZodOpenApiOperationObject {
  const { params, query, headers, body, textBody, formBody, rawBody, streamBody } = route;
  return {
    operationId: idOf(route),
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [...route.tags],
    security: SECURITY[route.auth],
    requestParams: {
      ...(params && { path: params }),
      ...(query && { query }),
      ...(headers && { header: headers }),
    },
    ...(body && {
      requestBody: {
        required: true,
        ...(textBody && { description: `JSON, or as \`${textBody.mediaType}\`: ${textBody.description}` }),
        ...(formBody && { description: `JSON, or as \`${FORM_TYPE}\`: ${formBody.description}` }),
        content: {
          'application/json': { schema: body },
          // Whatever is sent as a text is one.
          ...(textBody && { [textBody.mediaType]: { schema: {} } }),
          ...(formBody && { [FORM_TYPE]: { schema: formSchema(body, formBody) } }),
        },
      },
    }),
    ...(streamBody && {
      requestBody: {
        required: true,
        description: streamBody.description,
        content: Object.fromEntries(
          // As of a text: whatever is sent is one.
          streamBody.mediaTypes.map((type) => [type, { schema: {} }]),
        ),
      },
    }),
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
          responseOf(spec, around, route.auth),
        ]),
      ),
      ...errorResponses(errorsOf(route)),
    },
  };
}

/** The parts of a form: the fields of the JSON body, with the file in place of its base64. */
function formSchema(body: ZodType, { file }: FormBody): ZodType {
  const { [file.field]: _, ...fields } = (body as ZodObject).shape;
  const binary = z.string().meta({ format: 'binary', description: 'The file.' });
  return z.strictObject({ ...fields, [file.part]: binary.optional() });
}

/** @throws Error for a route of the document that has none. */
function idOf({ operationId, method, path }: RouteDeclaration): string {
  if (operationId === undefined) throw new Error(`${method} ${path} has no operationId.`);
  return operationId;
}

/** Every error code of a route: its own codes, and the codes of its authentication and its schemas. */
export function errorsOf(route: RouteDeclaration): ErrorCode[] {
  const hasSchemas = route.params ?? route.query ?? route.headers ?? route.body;
  return [
    ...new Set([
      ...(hasSchemas ? (['VALIDATION'] as const) : []),
      ...(route.body ? BODY_ERRORS : []),
      ...AUTH_ERRORS[route.auth],
      ...(route.right !== undefined && route.right !== 'self'
        ? (['ROLE_NOT_ALLOWED', 'SECOND_FACTOR_REQUIRED', 'ISSUER_REQUIRED'] as const)
        : []),
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

function responseOf(
  { description, schema, contentType, serviceHeaders = {}, links, headers }: ResponseSpec,
  around: Surroundings,
  auth: Auth,
): ZodOpenApiResponseObject {
  const own = Object.entries(serviceHeaders).map(([name, meaning]) => [
    `${around.headerPrefix}${name}`,
    meaning,
  ]);
  return {
    description,
    headers: {
      ...(isAuthenticated(auth) && commonHeaders(RATE_HEADERS)),
      ...headersOf({ ...headers, ...Object.fromEntries(own) }),
    },
    // One media type alone: generated clients read every response as the first one that they know.
    ...(contentType !== undefined && { content: { [contentType]: { schema: bodyOf(contentType) } } }),
    ...(contentType === undefined && schema && { content: { 'application/json': { schema } } }),
    ...(links && { links: linksOf(links, around) }),
  };
}

/** The schema of a body without one. */
function bodyOf(contentType: string) {
  // Of a stream of events, a schema would be that of each.
  if (contentType === 'text/event-stream') return {};
  if (contentType.startsWith('text/')) return { type: 'string' } as const;
  if (contentType === 'application/json') return { type: 'object', additionalProperties: true } as const;
  return { type: 'string', format: 'binary' } as const;
}

/** JSON bodies of responses for which the document has another media type: their descriptions name them. */
function alternativeSchemas(routes: readonly RouteDeclaration[]): Record<string, object> {
  const schemas = routes
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(({ contentType, schema }) =>
      contentType !== undefined && schema !== undefined ? [schema] : [],
    );
  return Object.assign({}, ...schemas.map((schema) => z.toJSONSchema(schema).$defs ?? {}));
}

function linksOf(
  { operations, names }: ResponseLinks,
  { headerPrefix, operationIds }: Surroundings,
): ZodOpenApiResponseObject['links'] {
  const links = operations.map((operation) => {
    const path = operation.split(' ')[1] ?? '';
    const target = operationIds.get(operation);
    if (target === undefined) throw new Error(`No route is ${operation}.`);
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

/** Whether callers of the route are authenticated, so that their rates are counted. */
function isAuthenticated(auth: Auth): boolean {
  return auth === 'apiKey' || auth === 'bearer';
}
