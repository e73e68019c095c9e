import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import qs from 'qs';
import Stripe from 'stripe';
import type { Clock } from '../../../src/infra/clock.ts';
import { ApiError, conflicting } from './api-error.ts';
import { API_VERSION, Books, RULES, type Rules } from './books.ts';
import { CustomerActs } from './customer-acts.ts';
import { catchUp } from './due.ts';
import { expanded } from './expand.ts';
import { IdempotencyKeys, type Reply } from './idempotency-keys.ts';
import { Params, type Tree } from './params.ts';
import { idsIn, type Route } from './route.ts';
import { CATALOGUE_ROUTES } from './routes-catalogue.ts';
import { CHECKOUT_ROUTES } from './routes-checkout.ts';
import { CUSTOMER_ROUTES } from './routes-customers.ts';
import { INVOICE_ROUTES } from './routes-invoices.ts';
import { SUBSCRIPTION_ROUTES } from './routes-subscriptions.ts';
import { afterInvoice } from './subscription-life.ts';

/**
 * What goes wrong with a call: its response is lost after the work was done (`lost`); it never arrives (`unsent`);
 * Stripe fails and keeps that as the response for the key (`failed`), or does so after the work was done (`belied`);
 * Stripe rejects it, and keeps that as well (`refused`); Stripe defers it, and it may be repeated (`busy`).
 */
export type Problem = 'lost' | 'unsent' | 'failed' | 'belied' | 'refused' | 'busy';

/** A call as it arrived. */
export interface StripeRequest {
  readonly method: string;
  readonly path: string;
  /** The path with `:id` where ids stand. */
  readonly route: string;
  readonly params: Tree;
  readonly key: string | undefined;
}

export interface Request {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface StandInOptions {
  readonly clock: Clock;
  readonly rules?: Partial<Rules>;
}

/** Every route that is modelled. */
export const ROUTES: readonly Route[] = [
  ...CATALOGUE_ROUTES,
  ...CUSTOMER_ROUTES,
  ...INVOICE_ROUTES,
  ...SUBSCRIPTION_ROUTES,
  ...CHECKOUT_ROUTES,
];
const KEY = 'sk_test_standin';

/**
 * Stands in for Stripe's HTTP API: keeps the state of an account, as far as billing needs it, and rejects every route
 * and parameter that it does not model. Its time is the given clock's; what becomes due by itself (renewals, retries,
 * expiries) is carried out before each call and by `catchUp`.
 */
export class StripeStandIn {
  readonly books: Books;
  readonly acts: CustomerActs;
  /** The accepted calls, in order, including replays. */
  readonly calls: StripeRequest[] = [];
  /** Decides what goes wrong with a call; nothing, unless a test says so. */
  problemOf: (request: StripeRequest) => Problem | undefined = () => undefined;
  /** Runs after a call has arrived and before it is worked on: holds it there. */
  hold: (asked: StripeRequest) => Promise<unknown> = () => immediate();
  /** Called for each call that was carried out, with its response. */
  onResponse: (asked: StripeRequest, reply: Reply) => void = () => undefined;
  readonly secretKey = KEY;
  readonly #keys = new IdempotencyKeys();
  #server: Server | undefined;

  constructor({ clock, rules }: StandInOptions) {
    this.books = new Books(clock, { ...RULES, ...rules });
    this.books.afterInvoice = (invoice, what) => afterInvoice(this.books, invoice, what);
    this.acts = new CustomerActs(this.books, () => this.catchUp());
  }

  /** Makes good what has become due by the clock. */
  catchUp(): void {
    catchUp(this.books);
  }

  /** Listens on a free port. @returns what STRIPE_API_BASE is set to. */
  async listen(): Promise<string> {
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { method = 'GET', url = '/', headers } = request;
      const reply = await this.response({ method, url, headers, body });
      if (reply === undefined) request.socket.destroy();
      else response.writeHead(reply.status, reply.headers).end(reply.text);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  /** A client of Stripe's own package that reaches the stand-in without a socket. */
  client(options: { maxNetworkRetries?: number } = {}): Stripe {
    return new Stripe(KEY, { ...options, httpClient: this.httpClient(), telemetry: false });
  }

  /** For a client that is made elsewhere. */
  httpClient() {
    return Stripe.createFetchHttpClient(async (input: RequestInfo | URL, init?: RequestInit) => {
      const url = new URL(String(input));
      const reply = await this.response({
        method: init?.method ?? 'GET',
        url: `${url.pathname}${url.search}`,
        headers: Object.fromEntries(
          [...new Headers(init?.headers)].map(([name, value]) => [name.toLowerCase(), value]),
        ),
        body: typeof init?.body === 'string' ? init.body : '',
      });
      if (reply === undefined) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
      return new Response(reply.text, { status: reply.status, headers: reply.headers });
    });
  }

  /** @returns undefined without a response: the connection breaks. */
  async response(
    request: Request,
  ): Promise<{ status: number; headers: Record<string, string>; text: string } | undefined> {
    let reported: Reply & { replayed?: boolean };
    let problem: Problem | undefined;
    try {
      const { asked, route, ids } = this.#read(request);
      problem = this.problemOf(asked);
      if (problem === 'unsent') return undefined;
      if (problem === 'busy')
        throw new ApiError(429, { type: 'rate_limit_error', message: 'Too many requests.' }, false);
      this.calls.push(asked);
      reported = await this.#run(asked, route, ids, problem);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      reported = responseOf(error);
    }
    if (problem === 'lost') return undefined;
    const headers: Record<string, string> = { 'content-type': 'application/json', 'request-id': 'req_test' };
    if (reported.replayed) headers['idempotent-replayed'] = 'true';
    return { status: reported.status, headers, text: JSON.stringify(reported.body) };
  }

  #read({ method, url, headers, body }: Request): {
    asked: StripeRequest;
    route: Route;
    ids: readonly string[];
  } {
    if (headers.authorization !== `Bearer ${KEY}`)
      throw new ApiError(401, { type: 'invalid_request_error', message: 'Invalid API Key provided' }, false);
    const version = headers['stripe-version'];
    if (version !== API_VERSION) {
      const message = `Invalid Stripe API version: ${String(version)}`;
      throw new ApiError(400, { type: 'invalid_request_error', message }, false);
    }
    const { pathname, search } = new URL(url, 'http://stripe.test');
    const sent = [search.slice(1), body].filter((part) => part !== '').join('&');
    const params = qs.parse(sent, { arrayLimit: 1_000, depth: 10 }) as Tree;
    for (const route of ROUTES) {
      const ids = route.method === method ? idsIn(route, pathname) : undefined;
      if (ids === undefined) continue;
      const key = headers['idempotency-key'];
      const named = typeof key === 'string' && method === 'POST' ? key : undefined;
      return { asked: { method, path: pathname, route: route.path, params, key: named }, route, ids };
    }
    const message = `Unrecognized request URL (${method}: ${pathname}).`;
    throw new ApiError(404, { type: 'invalid_request_error', message }, false);
  }

  async #run(asked: StripeRequest, route: Route, ids: readonly string[], problem: Problem | undefined) {
    const work = async () => {
      await this.hold(asked);
      const worked = this.#errorOf(problem) ?? this.#work(asked, route, ids);
      const reply = problem === 'belied' ? internalError() : worked;
      this.onResponse(asked, reply);
      return reply;
    };
    if (asked.key === undefined) return work();
    const request = JSON.stringify([asked.method, asked.path, asked.params]);
    return this.#keys.once(asked.key, request, this.books.clockSeconds, work);
  }

  #errorOf(problem: Problem | undefined): (Reply & { kept: boolean }) | undefined {
    if (problem === 'failed') return internalError();
    if (problem !== 'refused') return undefined;
    return { ...responseOf(conflicting('This cannot be done at the moment.')), kept: true };
  }

  #work(asked: StripeRequest, route: Route, ids: readonly string[]): Reply & { kept: boolean } {
    this.catchUp();
    const params = new Params(asked.params);
    const expand = params.texts('expand');
    this.books.idempotencyKey = asked.key ?? null;
    try {
      const body = route.act({ books: this.books, params, ids });
      return { status: 200, body: expanded(this.books, body, expand), kept: true };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { ...responseOf(error), kept: error.kept };
    } finally {
      this.books.idempotencyKey = null;
    }
  }
}

function responseOf({ status, error }: ApiError): Reply {
  return { status, body: { error } };
}

function internalError(): Reply & { kept: boolean } {
  const error = { type: 'api_error', message: 'An unknown error occurred.' };
  return { status: 500, body: { error }, kept: true };
}
