import type { Readable } from 'node:stream';
import type { ZodObject, ZodType, z } from 'zod';
import type { Operator } from '../../config/operators.ts';
import type { ErrorCode } from '../../infra/errors/registry.ts';
import type { StreamReservation } from '../../infra/overload/open-streams.ts';
import type { PendingAdmission } from '../../infra/overload/pending-admission.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { Right } from '../../tenants/members/roles.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import type { AccountCaller } from './authenticate-bearer.ts';

/**
 * The caller that each kind of authentication provides: `bearer` is an access token or the session of a browser; `page`
 * needs no credential, but accepts requests from the pages of this service only; `operator` is a token of those who run
 * the installation, on the port of operations alone.
 */
export interface Identities {
  apiKey: Caller;
  bearer: AccountCaller;
  page: undefined;
  operator: Operator;
  none: undefined;
}
export type Auth = keyof Identities;

/** One successful response of a route. */
export interface ResponseSpec {
  readonly description: string;
  /** Schema of a JSON body. */
  readonly schema?: ZodType;
  /** Media type of a body without a schema. A route may respond with either. */
  readonly contentType?: string;
  /** Further headers, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of this service, named without the configured prefix, with their descriptions. */
  readonly serviceHeaders?: Readonly<Record<string, string>>;
  readonly links?: ResponseLinks;
}
/** Links of the API document (OpenAPI Link Object): operations on the resource of a response. */
export interface ResponseLinks {
  /** Operations such as `GET /v1/pdf/jobs/:id`; the parameters of their paths come from this response. */
  readonly operations: readonly string[];
  /** Where each parameter is: in a field of the body, or in a header of this service, named without the prefix. */
  readonly names: Readonly<Record<string, { readonly field: string } | { readonly serviceHeader: string }>>;
}
export type Responses = Readonly<Record<number, ResponseSpec>>;

type ExtraHeaders = Readonly<Record<string, string | number>>;

/** A file that is sent as it is read. */
export interface FileBody {
  /** Bytes; absent when the size is not known before the file has been read. */
  readonly size?: number;
  readonly stream: Readable;
  /** All of it, where it is in memory: then it is not read from the stream. */
  readonly bytes?: Uint8Array;
  /** Reservations of the bounds of concurrent downloads, held until the caller has received the whole file. */
  readonly reservations?: readonly StreamReservation[];
  /** Called when the connection to the caller has taken the whole file. */
  readonly onSent?: () => void;
}
interface JsonResponse<Status, Body> {
  readonly status: Status;
  readonly json: Body;
  readonly headers?: ExtraHeaders;
}
interface BodyResponse<Status> {
  readonly status: Status;
  /** Its media type is the route's `contentType` for the status, unless `headers` has a Content-Type. */
  readonly body: string | Buffer | FileBody;
  readonly headers?: ExtraHeaders;
}
/** A response without a body, for example with 204. */
interface EmptyResponse<Status> {
  readonly status: Status;
  readonly headers?: ExtraHeaders;
}

/** The responses that a handler may return, by the route's declared responses. */
type ResponseTo<R extends Responses> = {
  [S in keyof R & number]:
    | (R[S] extends { schema: infer T extends ZodType } ? JsonResponse<S, z.input<T>> : never)
    | (R[S] extends { contentType: string } ? BodyResponse<S> : never)
    | (R[S] extends { schema: ZodType } | { contentType: string } ? never : EmptyResponse<S>);
}[keyof R & number];
/** A response of any route. */
export type AnyResponse = JsonResponse<number, unknown> | BodyResponse<number> | EmptyResponse<number>;

type Parsed<S> = S extends ZodType ? z.output<S> : undefined;

/** An authenticated request whose parts all fit their schemas. */
export interface RouteRequest<A extends Auth, P, Q, H, B> {
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  /** By the names in the schema. */
  readonly headers: Parsed<H>;
  readonly body: Parsed<B>;
  /** The body, unchanged; empty unless the route declares `rawBody`. */
  readonly rawBody: Buffer;
  readonly caller: Identities[A];
  /** The client's IP address; undefined when the connection is closed already. */
  readonly clientAddress: string | undefined;
  /**
   * The body in pieces, as it arrives, of a route that declares `streamBody`. Throws PlatenError as `streamParts` does.
   */
  readonly parts: () => AsyncIterable<Buffer>;
  /** The headers Accept, User-Agent and Cookie, unchanged. */
  readonly accept: string | undefined;
  readonly userAgent: string | undefined;
  readonly cookies: string | undefined;
  /** Whether the caller accepts a compressed body. */
  readonly acceptsGzip: () => boolean;
  /** Path pattern of the route. */
  readonly route: string;
  /** Hex SHA-256 of the body, or else of the path's parameters; only for a request with an Idempotency-Key. */
  readonly bodyHash: () => string;
  /** Releases the memory of the body before the request ends; `body` is undefined then. */
  readonly bodyDone: () => void;
  /** Of a request for work. */
  readonly admission: PendingAdmission;
  /** Sets a header of the response, also when that becomes an error. */
  readonly setHeader: (name: string, value: string) => void;
  /** Notes the job of the request, for the log. */
  readonly aboutJob: (jobId: string) => void;
  /** Calls `listener` once if the caller disconnects before it has received the whole response. */
  readonly onHangUp: (listener: () => void) => void;
}

/** A request to any route. */
export type AnyRequest = Record<'params' | 'query' | 'headers' | 'body', unknown> &
  Omit<RouteRequest<Auth, never, never, never, never>, 'params' | 'query' | 'headers' | 'body'>;

/** A body that is a text, together with the parameters of the query. The schema of the JSON body checks what it stands for. */
export interface TextBody {
  /** Without parameters: `text/html`. */
  readonly mediaType: string;
  readonly description: string;
  /** The JSON body that it stands for; what does not fit is left to the schema. */
  readonly toBody: (text: string, query: Readonly<Record<string, unknown>>) => unknown;
}

/** A body in parts (`multipart/form-data`, RFC 7578), of which one is a file. */
export interface FormBody {
  readonly description: string;
  /** The part that is a file, and the field of the JSON body that has it in base64. */
  readonly file: { readonly part: string; readonly field: string };
  /** The parts that are JSON. All others are texts. */
  readonly json: readonly string[];
}

/** A body of any length that is stored as it arrives, instead of `body`. */
export interface StreamBody {
  readonly mediaTypes: readonly [string, ...string[]];
  readonly description: string;
  readonly maxBytes: number;
}

/** What the routes of a group have in common. */
interface RouteGroup<A extends Auth> {
  readonly tags: readonly string[];
  readonly auth: A;
  /** The right that the caller's role in the account has to include, unless a route names another one. */
  readonly right?: Right;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The declaration of a route: everything except its operation, its group and its handler. */
export interface RouteSpec<R extends Responses, P, Q, H, B> {
  /** What the API document and generated clients call it: `renderPdf`. Only a route that is left out of it needs none. */
  readonly operationId?: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  /** Only the headers that it names are checked and passed on. */
  readonly headers?: H;
  /** Schema of a JSON body, which is required then. */
  readonly body?: B;
  /** Another form in which callers may send the body. */
  readonly textBody?: TextBody;
  /** Another form in which callers may send the body. */
  readonly formBody?: FormBody;
  readonly streamBody?: StreamBody;
  /** Instead of `body`, for a handler that needs the unchanged bytes of a body of any type. */
  readonly rawBody?: {
    readonly maxBytes: number;
    readonly description: string;
    /**
     * The error code for a body that cannot be received, for example one that is too large, and for a change that
     * cannot be kept. Default: that error's own.
     */
    readonly rejectedAs?: ErrorCode;
  };
  /** Checks the body against the caller's plan before the schema does; throws the error for the caller. */
  readonly precheckBody?: (body: unknown, plan: Plan) => void;
  /** Rules between the fields of the body, checked even when fields are invalid: all errors are reported. */
  readonly bodyErrors?: (body: unknown) => readonly string[];
  /** Adds to an error of the body, for example which of many items it is in. */
  readonly describeError?: (error: string, body: unknown) => string;
  readonly responses: R;
  /** Errors of the handler. Errors of authentication and of the schemas are added. */
  readonly errors?: readonly ErrorCode[];
  /** It is a request for work: it counts against the plan's requests a minute, and is logged for the account. */
  readonly requestsWork?: true;
  /**
   * Its requests wait for a permit of the admission queue, as requests for work with a body do. They hold it while
   * their body is parsed and checked; without a body, while their response is made. For routes with large bodies or
   * responses.
   */
  readonly needsPermit?: true;
  /** Its response may be large: it is rejected at its beginning without room for one more unread response. */
  readonly largeResponse?: true;
  /**
   * It is handled also while there is no room to keep changes; without it, whatever is no GET is rejected then.
   * `confirmed`: it frees room, or protects the account, and may be repeated; as with any change, the response waits until
   * it is written. `unconfirmed`: it leaves nothing behind that has to be there after a crash.
   */
  readonly withoutRoom?: 'confirmed' | 'unconfirmed';
  /** It is left out of the API document. */
  readonly internal?: boolean;
  /** Log level of its requests. Default: `info`. */
  readonly logLevel?: 'debug';
}

/** Every route that people call names the right that the caller's role in the account has to include; others have none. */
type RightOf<A extends Auth> = A extends 'bearer' ? { readonly right: Right } : { readonly right?: never };

/** The declaration of any route, from which it is documented. */
export interface RouteDeclaration
  extends RouteGroup<Auth>,
    RouteSpec<Responses, ZodObject, ZodObject, ZodObject, ZodType> {
  readonly method: Method;
  /** Express pattern: `/v1/pdf/jobs/:id`. */
  readonly path: string;
}

/** A route with its handler. */
export type Route<Deps> = RouteDeclaration & {
  readonly handler: (request: AnyRequest, deps: Deps) => AnyResponse | Promise<AnyResponse>;
};

/**
 * Returns the function that declares the routes of a group. The schemas of a route are the single source of validation,
 * of the handler's types and of the API document. Use strict object schemas, which reject unknown fields.
 *
 * Its `operation` is a method and an Express pattern, as `ResponseLinks` name it.
 *
 * @example
 * const defineRoute = routesOf({ tags: ['Things'], auth: 'bearer' });
 * defineRoute('GET /v1/things/:id', { … }).handledBy(async ({ params }, deps: ApiDeps) => …)
 */
export function routesOf<A extends Auth>(group: RouteGroup<A>) {
  return <
    const R extends Responses,
    P extends ZodObject | undefined = undefined,
    Q extends ZodObject | undefined = undefined,
    H extends ZodObject | undefined = undefined,
    B extends ZodType | undefined = undefined,
  >(
    operation: `${Uppercase<Method>} ${string}`,
    spec: RouteSpec<R, P, Q, H, B> & RightOf<A>,
  ) => ({
    handledBy<Deps>(
      handler: (request: RouteRequest<A, P, Q, H, B>, deps: Deps) => ResponseTo<R> | Promise<ResponseTo<R>>,
    ): Route<Deps> {
      // The handler is only called with requests that these schemas have accepted.
      const [method, path] = operation.split(' ');
      return { method: method!.toLowerCase(), path, ...group, ...spec, handler } as unknown as Route<Deps>;
    },
  });
}
