import type { Readable } from 'node:stream';
import type { ZodObject, ZodType, z } from 'zod';
import type { Caller } from '../accounts/caller.ts';
import type { ErrorCode } from '../errors/registry.ts';
import type { AdmissionTimer } from '../limits/admission-timer.ts';
import type { StreamPlace } from '../limits/open-streams.ts';
import type { Plan } from '../plans/plan.ts';
import type { AccountCaller } from './authenticate-bearer.ts';

/** What each way of authenticating makes known about who asks. */
export interface Identities {
  apiKey: Caller;
  bearer: AccountCaller;
  none: undefined;
}
export type Auth = keyof Identities;

/** One way a route can answer when all went well. */
export interface ResponseSpec {
  readonly description: string;
  /** Of a JSON body. */
  readonly schema?: ZodType;
  /** Of a body that is not described by a schema. A route may answer with either. */
  readonly contentType?: string;
  /** Further headers, and what they hold. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of our own, named without the configured prefix, and what they hold. */
  readonly serviceHeaders?: Readonly<Record<string, string>>;
  readonly leadsTo?: FollowUps;
}
/** Operations on what an answer is about, for readers of the API document that follow them. */
export interface FollowUps {
  /** `GET /v1/pdf/jobs/:id` and the like; what their paths name comes from this answer. */
  readonly operations: readonly string[];
  /** Where each name of a path is: in a field of the body, or in a header of our own, named without the prefix. */
  readonly names: Readonly<Record<string, { readonly field: string } | { readonly serviceHeader: string }>>;
}
export type Responses = Readonly<Record<number, ResponseSpec>>;

type ExtraHeaders = Readonly<Record<string, string | number>>;

/** A file that is sent as it is read. */
export interface FileBody {
  /** Bytes; absent when that is not known before it has been read. */
  readonly size?: number;
  readonly stream: Readable;
  /** Its places among what is sent, until the caller has it all. */
  readonly places?: readonly StreamPlace[];
}
export interface JsonAnswer<Status, Body> {
  readonly status: Status;
  readonly json: Body;
  readonly headers?: ExtraHeaders;
}
export interface BodyAnswer<Status> {
  readonly status: Status;
  /** Its media type is the one that the route declares for the status. */
  readonly body: string | Buffer | FileBody;
  readonly headers?: ExtraHeaders;
}
/** Without a body, as of 204. */
export interface EmptyAnswer<Status> {
  readonly status: Status;
  readonly headers?: ExtraHeaders;
}

/** The answers that a route's declared responses allow. */
export type AnswerTo<R extends Responses> = {
  [S in keyof R & number]:
    | (R[S] extends { schema: infer T extends ZodType } ? JsonAnswer<S, z.input<T>> : never)
    | (R[S] extends { contentType: string } ? BodyAnswer<S> : never)
    | (R[S] extends { schema: ZodType } | { contentType: string } ? never : EmptyAnswer<S>);
}[keyof R & number];
/** An answer of any route. */
export type AnyAnswer = JsonAnswer<number, unknown> | BodyAnswer<number> | EmptyAnswer<number>;

type Parsed<S> = S extends ZodType ? z.output<S> : undefined;

/** A request that has been authenticated and whose every part fits its schema. */
export interface RouteRequest<A extends Auth, P, Q, H, B> {
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  /** By the names the schema gives them. */
  readonly headers: Parsed<H>;
  readonly body: Parsed<B>;
  /** The body as it came; empty unless the route asks for that. */
  readonly rawBody: Buffer;
  readonly caller: Identities[A];
  /** The client's address; undefined when the connection is gone already. */
  readonly clientAddress: string | undefined;
  /** Path pattern of the route. */
  readonly route: string;
  /** Hex SHA-256 of the body as it was sent; only of a request that names itself by an Idempotency-Key. */
  readonly bodyHash: () => string;
  /** The body is not looked at any more: its memory is given back although the request goes on. `body` is gone then. */
  readonly bodyDone: () => void;
  /** Of a request for work: what it spends on being let in. */
  readonly admissionTimer: AdmissionTimer;
  /** Puts a header on the answer, also when that becomes an error. */
  readonly setHeader: (name: string, value: string) => void;
  /** Notes which job the request was about, for the log. */
  readonly aboutJob: (jobId: string) => void;
  /** Calls back, once, if the caller goes away before it has the whole answer. */
  readonly onHangUp: (listener: () => void) => void;
}

/** A request to any route. */
type AnyRequest = Record<'params' | 'query' | 'headers' | 'body', unknown> &
  Omit<RouteRequest<Auth, never, never, never, never>, 'params' | 'query' | 'headers' | 'body'>;

/** What is declared of a route; everything but what it does. */
interface RouteSpec<A extends Auth, R extends Responses, P, Q, H, B> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express pattern: `/v1/pdf/jobs/:id`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly auth: A;
  readonly params?: P;
  readonly query?: Q;
  /** Only those headers that it names are looked at. */
  readonly headers?: H;
  /** Of a JSON body, which is required then. */
  readonly body?: B;
  /** The handler takes the bytes of the body as they came, of any type, up to so many; instead of `body`. */
  readonly rawBody?: {
    readonly maxBytes: number;
    readonly description: string;
    /** What a body that cannot be taken in is answered with, one that is too large above all; its own fault when absent. */
    readonly refusedAs?: ErrorCode;
  };
  /** Refuses a body that is too much to be checked under the caller's plan, before it is; throws what the caller is told. */
  readonly refuseBody?: (body: unknown, plan: Plan) => void;
  /** Rules between the fields of the body; asked even of a body with faults, so that all are told at once. */
  readonly bodyFaults?: (body: unknown) => readonly string[];
  /** Says more of a fault of the body, by the body: which of many things it is in. */
  readonly describeFault?: (fault: string, body: unknown) => string;
  readonly responses: R;
  /** What the handler may refuse with. Faults of credentials and of form go without saying. */
  readonly errors?: readonly ErrorCode[];
  /** A request for work: it counts against the plan's requests a minute, and is logged for the account. */
  readonly asksForWork?: true;
  /**
   * It waits for its account's turn, as requests for work do: its body is parsed and checked in it, or, if it has none, its
   * answer is made. For what may be large.
   */
  readonly takesTurn?: true;
  /** Its answer may be large: no request is begun whose answer would find no room among those that wait to be read. */
  readonly largeAnswer?: true;
  /** Left out of the API document. */
  readonly internal?: boolean;
  /** Log level of its requests; `info` unless said otherwise. */
  readonly logLevel?: 'debug';
}

/** A declared route whatever its schemas: what documenting it needs to know. */
export type RouteDeclaration = RouteSpec<Auth, Responses, ZodObject, ZodObject, ZodObject, ZodType>;

/** A route that can answer. `Parts` is what its handler works with. */
export interface Route<Parts> extends RouteDeclaration {
  readonly handler: (request: AnyRequest, parts: Parts) => AnyAnswer | Promise<AnyAnswer>;
}

/**
 * Declares a route. Its schemas are the one source of what is checked, of the handler's types and of the API document.
 * Use strict object schemas: an unknown field is a fault.
 *
 * @example defineRoute({ method: 'get', path: '/v1/things/:id', … }).handledBy(async ({ params }, parts: ApiParts) => …)
 */
export function defineRoute<
  A extends Auth,
  const R extends Responses,
  P extends ZodObject | undefined = undefined,
  Q extends ZodObject | undefined = undefined,
  H extends ZodObject | undefined = undefined,
  B extends ZodType | undefined = undefined,
>(spec: RouteSpec<A, R, P, Q, H, B>) {
  return {
    handledBy<Parts>(
      handler: (request: RouteRequest<A, P, Q, H, B>, parts: Parts) => AnswerTo<R> | Promise<AnswerTo<R>>,
    ): Route<Parts> {
      // The handler is only ever called with what these very schemas let through.
      return { ...spec, handler } as unknown as Route<Parts>;
    },
  };
}
