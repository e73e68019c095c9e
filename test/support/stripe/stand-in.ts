import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import qs from 'qs';
import Stripe from 'stripe';
import type { Clock } from '../../../src/clock.ts';
import { ApiFault, conflicting } from './api-fault.ts';
import { API_VERSION, Books, RULES, type Rules } from './books.ts';
import { CustomerActs } from './customer-acts.ts';
import { catchUp } from './due.ts';
import { expanded } from './expand.ts';
import { type Answer, IdempotencyKeys } from './idempotency-keys.ts';
import { Params, type Tree } from './params.ts';
import { idsIn, type Route } from './route.ts';
import { CATALOGUE_ROUTES } from './routes-catalogue.ts';
import { CHECKOUT_ROUTES } from './routes-checkout.ts';
import { CUSTOMER_ROUTES } from './routes-customers.ts';
import { INVOICE_ROUTES } from './routes-invoices.ts';
import { SUBSCRIPTION_ROUTES } from './routes-subscriptions.ts';
import { afterInvoice } from './subscription-life.ts';

/**
 * What goes wrong with a call: its answer is lost after the work was done (`lost`); it never arrives (`unsent`); Stripe
 * fails and keeps that as the answer of the key (`failed`), or does so after the work was done (`belied`); Stripe says no, and
 * keeps that as well (`refused`); Stripe turns it away, and may be asked again (`busy`).
 */
export type Fault = 'lost' | 'unsent' | 'failed' | 'belied' | 'refused' | 'busy';

/** A call as it arrived. */
export interface Asked {
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
 * Stands in for Stripe's HTTP API: keeps the state of an account, as far as billing needs it, and refuses every route
 * and parameter that it does not model. Its time is the given clock's; what becomes due by itself (renewals, retries,
 * expiries) is made good before each call and by `catchUp`.
 */
export class StripeStandIn {
  readonly books: Books;
  readonly acts: CustomerActs;
  /** The calls that were let in, in their order; replays among them. */
  readonly calls: Asked[] = [];
  /** Decides what goes wrong with a call; nothing, unless a test says so. */
  fault: (asked: Asked) => Fault | undefined = () => undefined;
  /** Runs after a call has arrived and before it is worked on: holds it there. */
  hold: (asked: Asked) => Promise<unknown> = () => turn();
  /** Is told of each call that was worked on, with its answer. */
  onAnswer: (asked: Asked, answer: Answer) => void = () => undefined;
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
      const answer = await this.answer({ method, url, headers, body });
      if (answer === undefined) request.socket.destroy();
      else response.writeHead(answer.status, answer.headers).end(answer.text);
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
      const answer = await this.answer({
        method: init?.method ?? 'GET',
        url: `${url.pathname}${url.search}`,
        headers: Object.fromEntries(
          [...new Headers(init?.headers)].map(([name, value]) => [name.toLowerCase(), value]),
        ),
        body: typeof init?.body === 'string' ? init.body : '',
      });
      if (answer === undefined) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
      return new Response(answer.text, { status: answer.status, headers: answer.headers });
    });
  }

  /** @returns undefined when there is no answer: the connection breaks. */
  async answer(
    request: Request,
  ): Promise<{ status: number; headers: Record<string, string>; text: string } | undefined> {
    let told: Answer & { replayed?: boolean };
    let fault: Fault | undefined;
    try {
      const { asked, route, ids } = this.#read(request);
      fault = this.fault(asked);
      if (fault === 'unsent') return undefined;
      if (fault === 'busy')
        throw new ApiFault(429, { type: 'rate_limit_error', message: 'Too many requests.' }, false);
      this.calls.push(asked);
      told = await this.#run(asked, route, ids, fault);
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      told = answerOf(error);
    }
    if (fault === 'lost') return undefined;
    const headers: Record<string, string> = { 'content-type': 'application/json', 'request-id': 'req_test' };
    if (told.replayed) headers['idempotent-replayed'] = 'true';
    return { status: told.status, headers, text: JSON.stringify(told.body) };
  }

  #read({ method, url, headers, body }: Request): { asked: Asked; route: Route; ids: readonly string[] } {
    if (headers.authorization !== `Bearer ${KEY}`)
      throw new ApiFault(401, { type: 'invalid_request_error', message: 'Invalid API Key provided' }, false);
    const version = headers['stripe-version'];
    if (version !== API_VERSION) {
      const message = `Invalid Stripe API version: ${String(version)}`;
      throw new ApiFault(400, { type: 'invalid_request_error', message }, false);
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
    throw new ApiFault(404, { type: 'invalid_request_error', message }, false);
  }

  async #run(asked: Asked, route: Route, ids: readonly string[], fault: Fault | undefined) {
    const work = async () => {
      await this.hold(asked);
      const worked = this.#faultOf(fault) ?? this.#work(asked, route, ids);
      const answer = fault === 'belied' ? internalFault() : worked;
      this.onAnswer(asked, answer);
      return answer;
    };
    if (asked.key === undefined) return work();
    const request = JSON.stringify([asked.method, asked.path, asked.params]);
    return this.#keys.once(asked.key, request, this.books.clockSeconds, work);
  }

  #faultOf(fault: Fault | undefined): (Answer & { kept: boolean }) | undefined {
    if (fault === 'failed') return internalFault();
    if (fault !== 'refused') return undefined;
    return { ...answerOf(conflicting('This cannot be done at the moment.')), kept: true };
  }

  #work(asked: Asked, route: Route, ids: readonly string[]): Answer & { kept: boolean } {
    this.catchUp();
    const params = new Params(asked.params);
    const expand = params.texts('expand');
    this.books.idempotencyKey = asked.key ?? null;
    try {
      const body = route.act({ books: this.books, params, ids });
      return { status: 200, body: expanded(this.books, body, expand), kept: true };
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      return { ...answerOf(error), kept: error.kept };
    } finally {
      this.books.idempotencyKey = null;
    }
  }
}

function answerOf({ status, error }: ApiFault): Answer {
  return { status, body: { error } };
}

function internalFault(): Answer & { kept: boolean } {
  const error = { type: 'api_error', message: 'An unknown error occurred.' };
  return { status: 500, body: { error }, kept: true };
}
