import type { Request, Response } from 'express';
import { type PendingAdmission, pendingAdmission } from '../../infra/overload/pending-admission.ts';
import type { ResponseReservation } from '../../infra/overload/unread-responses.ts';
import type { Permit } from '../../infra/scheduling/fair-queue.ts';
import type { KeptBody } from '../../tenants/usage/request-details.ts';
import type { RawBody } from './read-json.ts';
import type { TracedRequest } from './request-trace.ts';
import type { AnyRequest, AnyResponse, Identities, Route } from './route.ts';

type AnyIdentity = Identities[keyof Identities];
/** An account that requests something, if any does. */
export type AnyCaller = Extract<AnyIdentity, { readonly accountId: string }> | undefined;

/**
 * One request on its way to its response. Each stage stores here what later stages need. The request may hold a permit
 * and the bytes of its body and of its response, which `release` gives back.
 */
export class Exchange<Deps> {
  readonly route: Route<Deps>;
  readonly request: Request;
  readonly response: Response;
  readonly admission: PendingAdmission;
  /** By `performance.now()`. */
  readonly startedAt = performance.now();
  /** Whom the credential shows, for the handler; undefined until it is known, and of a route that needs none. */
  identity: AnyIdentity;
  /** The account among identities: its plan bounds the request. */
  caller: AnyCaller;
  /** The owner by which bytes are counted: an account, or an anonymous caller's network. */
  ownerId = '';
  body: RawBody | undefined;
  /** Hex SHA-256 of the body as it was sent; only for a request with an Idempotency-Key. */
  bodyHash: string | undefined;
  json: unknown;
  checked: AnyRequest | undefined;
  /** The body as the log keeps it; null without one. */
  keptBody: KeptBody | null = null;
  reply: AnyResponse | undefined;
  responseReservation: ResponseReservation | undefined;
  /** Whether its outcome has been recorded for the account. */
  isRecorded = false;
  #permit: Permit | undefined;

  /** @param traced of a request for work. */
  constructor(route: Route<Deps>, request: Request, response: Response, traced?: TracedRequest) {
    this.route = route;
    this.request = request;
    this.response = response;
    this.admission = pendingAdmission(traced?.observe, () => this.releasePermit(), traced?.trace);
  }

  /** Notes whom the credential shows. */
  identify(identity: AnyIdentity): void {
    this.identity = identity;
    if (identity !== undefined && 'accountId' in identity) this.caller = identity;
  }

  /** Holds a permit of the admission queue, until `releasePermit`. */
  holdPermit(permit: Permit): void {
    this.#permit = permit;
  }

  /** Lets the next request be admitted. Called again, or without a permit, it changes nothing. */
  releasePermit(): void {
    this.#permit?.release();
  }

  /** Gives back the bytes of the body and the permit, because the body is not needed any more. */
  releaseBody(): void {
    this.body?.release();
    this.json = undefined;
    this.releasePermit();
  }

  /** @param responded whether a response is being sent, which holds its bytes until it has been read. */
  release(responded: boolean): void {
    this.releaseBody();
    if (!responded) this.responseReservation?.release();
  }
}
