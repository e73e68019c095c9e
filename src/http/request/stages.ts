import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { forCaller } from '../../infra/async/caller-scope.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { ObserveAdmission } from '../../infra/overload/admission-timer.ts';
import type { BodyIntake } from '../../infra/overload/body-intake.ts';
import type { ChangeGate } from '../../infra/overload/change-gate.ts';
import type { UnreadResponses } from '../../infra/overload/unread-responses.ts';
import type { AdmissionQueue } from '../../infra/scheduling/admission-queue.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { Tracing } from '../../infra/tracing/tracing.ts';
import { networkOf } from '../../tenants/limits/network-of.ts';
import type { Authenticators } from './authenticate.ts';
import { type AccountCaller, requireRight } from './authenticate-bearer.ts';
import type { CallerLimits } from './caller-limits.ts';
import { checkRequest } from './check-request.ts';
import { clientAddress } from './client-address.ts';
import type { AnyCaller, Exchange } from './exchange.ts';
import { onHangUp } from './hang-up.ts';
import { keepsDetails, keptBody } from './log-details.ts';
import { FORM_TYPE, readForm } from './read-form.ts';
import { CallerGone, checkMediaType, parseJson, type RawBody, readBytes, readText } from './read-json.ts';
import { contextOf } from './request-context.ts';
import { sendResponse } from './responses.ts';
import type { AnyRequest, RouteDeclaration } from './route.ts';
import { checkStreamType, streamParts } from './stream-parts.ts';

/** Largest body of a request that needs no credential, in bytes. */
const ANONYMOUS_BODY_BYTES = 64 * 1024;
/** Bytes that are reserved for a large response until its size is known. */
const LARGE_RESPONSE_BYTES = 1024 * 1024;
const NO_BODY = Buffer.alloc(0);

/** Dependencies of the stages of an app. */
export interface StageDeps<Deps> {
  readonly deps: Deps;
  readonly authenticators: Authenticators;
  /** Rejects a caller whose account has another owner by now. Absent in an app without authentication. */
  readonly requireOwner?: ((caller: NonNullable<AnyCaller>) => Promise<void>) | undefined;
  /** Rates of authenticated callers. Absent in an app without authentication. */
  readonly limits?: CallerLimits | undefined;
  /** Rejects and confirms changes. Absent in an app whose requests change nothing. */
  readonly changes?: ChangeGate | undefined;
  /** Receives the bodies of requests. Absent in an app whose requests have none. */
  readonly bodies?: BodyIntake | undefined;
  /** Bounds the responses that callers have not read yet. Absent in an app whose responses are small. */
  readonly unread?: UnreadResponses | undefined;
  /** Decides which request for work is admitted next. Absent in an app without requests for work. */
  readonly admissionQueue?: AdmissionQueue | undefined;
  readonly observeAdmission: ObserveAdmission;
  /** Records requests for work. Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly logger: Logger;
}

/** One step of handling a request. An error that it throws ends the request, with that error as the response. */
type Stage = <Deps>(exchange: Exchange<Deps>, deps: StageDeps<Deps>) => Promise<void> | void;

/** The stages of every request, in this order. */
const STAGES: readonly Stage[] = [
  authenticate,
  limitRate,
  checkRight,
  rejectWithoutRoom,
  reserveResponse,
  receiveBody,
  awaitPermit,
  parseBody,
  check,
  checkOwner,
  handle,
  confirmChange,
  recordOutcome,
  respond,
];

/** Runs all stages of a request. @throws the error of a stage, once everything that the request held is given back. */
export async function runStages<Deps>(exchange: Exchange<Deps>, deps: StageDeps<Deps>): Promise<void> {
  let responded = false;
  try {
    await forCaller(async () => {
      for (const stage of STAGES) await stage(exchange, deps);
    });
    responded = true;
  } catch (error) {
    deps.limits?.recordFailure(exchange, error);
    throw error;
  } finally {
    exchange.release(responded);
  }
}

async function authenticate<Deps>(
  exchange: Exchange<Deps>,
  { authenticators }: StageDeps<Deps>,
): Promise<void> {
  const { route, request, response, admission } = exchange;
  const by: (request: Request) => Promise<Exchange<Deps>['identity']> = authenticators[route.auth]!;
  exchange.identify(await admission.timer.time('authenticate', () => by(request)));
  const accountId = exchange.caller?.accountId;
  if (accountId !== undefined) contextOf(response).accountId = accountId;
  exchange.ownerId = accountId ?? `network ${networkOf(clientAddress(request))}`;
}

/** @throws PlatenError ROLE_NOT_ALLOWED. */
function checkRight<Deps>({ route, caller }: Exchange<Deps>): void {
  if (route.auth !== 'bearer') return;
  // A route without a right would be open to every role.
  requireRight(caller as AccountCaller, route.right!);
}

/** @throws PlatenError RATE_LIMITED. */
async function limitRate<Deps>(exchange: Exchange<Deps>, { limits }: StageDeps<Deps>): Promise<void> {
  await limits?.limitRate(exchange);
}

/**
 * Rejects changes while there is no room to keep them. A request for work with an Idempotency-Key may continue work that
 * was accepted before: its handler asks for room once it knows that it does not.
 *
 * @throws PlatenError UNAVAILABLE.
 */
function rejectWithoutRoom<Deps>({ route, request }: Exchange<Deps>, { changes }: StageDeps<Deps>): void {
  if (route.method === 'get' || route.withoutRoom !== undefined) return;
  if (route.requestsWork && request.headers['idempotency-key'] !== undefined) return;
  const rejection = changes?.rejection();
  if (rejection !== undefined) throw asDeclared(route, rejection);
}

/** @throws PlatenError as `UnreadResponses.begin`, so that no request is begun without room for its response. */
function reserveResponse<Deps>(exchange: Exchange<Deps>, { unread }: StageDeps<Deps>): void {
  const expected = exchange.route.largeResponse ? LARGE_RESPONSE_BYTES : 0;
  exchange.responseReservation = unread?.begin(exchange.ownerId, expected);
}

/** @throws PlatenError as `checkMediaType` and `readBytes`. */
async function receiveBody<Deps>(exchange: Exchange<Deps>, { bodies }: StageDeps<Deps>): Promise<void> {
  const { route, request, caller, ownerId } = exchange;
  if (route.streamBody !== undefined) checkStreamType(request, route.streamBody);
  if (!hasBody(route)) return;
  if (bodies === undefined) throw new Error(`Nothing takes in the bodies of ${route.path}.`);
  if (route.rawBody !== undefined) {
    exchange.body = await receiveRaw(request, route.rawBody, bodies, ownerId);
    return;
  }
  checkMediaType(request, otherForms(route));
  const maxBytes = caller?.plan.maxInputSizeBytes ?? ANONYMOUS_BODY_BYTES;
  exchange.body = await readBytes(request, maxBytes, bodies, ownerId);
}

async function receiveRaw(
  request: Request,
  { maxBytes, rejectedAs }: NonNullable<RouteDeclaration['rawBody']>,
  bodies: BodyIntake,
  ownerId: string,
): Promise<RawBody> {
  try {
    return await readBytes(request, maxBytes, bodies, ownerId);
  } catch (error) {
    if (rejectedAs === undefined || !(error instanceof PlatenError)) throw error;
    throw new PlatenError(rejectedAs, error.message, { cause: error });
  }
}

/**
 * Waits for a permit of the admission queue. It comes after the body has been received, so that a slow sender delays no
 * other request.
 *
 * @throws PlatenError UNAVAILABLE; CallerGone.
 */
async function awaitPermit<Deps>(
  exchange: Exchange<Deps>,
  { admissionQueue }: StageDeps<Deps>,
): Promise<void> {
  const { route, caller, response } = exchange;
  const isNeeded = route.needsPermit || (route.requestsWork && route.body !== undefined);
  if (!isNeeded || caller === undefined || admissionQueue === undefined) return;
  const gone = new AbortController();
  onHangUp(response, () => gone.abort(new CallerGone()));
  exchange.holdPermit(await admissionQueue.acquire({ account: caller.accountId }, gone.signal));
}

/** @throws PlatenError as `parseJson`, as `readText` for a text, or as `readForm` for one in parts. */
async function parseBody<Deps>(exchange: Exchange<Deps>): Promise<void> {
  const { route, request, body } = exchange;
  if (body === undefined || route.rawBody !== undefined) return;
  const { textBody, formBody } = route;
  const type = checkMediaType(request, otherForms(route));
  const isText = type === textBody?.mediaType;
  const isForm = formBody !== undefined && type === FORM_TYPE;
  if (isForm) exchange.json = await readForm(body.bytes, request.headers['content-type']!, formBody);
  else exchange.json = isText ? textBody.toBody(readText(body.bytes), request.query) : parseJson(body.bytes);
  if (request.headers['idempotency-key'] !== undefined) {
    // What the query says is as much a part of such a body as the text is.
    const query = isText ? `${textBody.mediaType} ${request.originalUrl}\n` : '';
    // The same parts are separated by other bytes each time.
    exchange.bodyHash = isForm ? sha256(FORM_TYPE, JSON.stringify(exchange.json)) : sha256(query, body.bytes);
  }
  if (keepsDetails(exchange)) exchange.keptBody = keptBody(type, body.bytes.length, exchange.json);
  // The bytes are not needed from here on, but count until the handler is done with the parsed body.
  exchange.body = { bytes: NO_BODY, release: body.release };
}

/** @throws PlatenError VALIDATION, with every error of every field. */
function check<Deps>(exchange: Exchange<Deps>, { bodies }: StageDeps<Deps>): void {
  const { route, request, response, identity, caller, ownerId, body, json, bodyHash, admission } = exchange;
  if (caller !== undefined) route.precheckBody?.(json, caller.plan);
  const checked = {
    ...checkRequest(route, request, json),
    rawBody: body?.bytes ?? NO_BODY,
    parts: () => streamParts(request, route.streamBody!, bodies!, ownerId),
    caller: identity,
    clientAddress: clientAddress(request),
    userAgent: request.headers['user-agent'],
    acceptsGzip: () => request.acceptsEncodings('gzip') === 'gzip',
    accept: request.headers.accept,
    cookies: request.headers.cookie,
    route: route.path,
    bodyHash: () => bodyHash ?? sha256(JSON.stringify(checked.params)),
    bodyDone() {
      checked.body = undefined;
      exchange.releaseBody();
    },
    admission,
    aboutJob(jobId: string) {
      contextOf(response).jobId = jobId;
    },
    setHeader: (name: string, value: string) => void response.setHeader(name, value),
    onHangUp: (listener: () => void) => onHangUp(response, listener),
  };
  exchange.checked = checked as AnyRequest;
  // Only the handler references the body from here on, so that its memory is free once the handler is done with it.
  exchange.json = undefined;
  // The handler may run the account's templates, for long: other requests must not wait for its permit.
  if (route.needsPermit && hasBody(route)) exchange.releasePermit();
}

/** Checks the owner of the account again, after a wait for the body or a permit. @throws PlatenError UNAUTHENTICATED */
async function checkOwner<Deps>(exchange: Exchange<Deps>, { requireOwner }: StageDeps<Deps>): Promise<void> {
  const { route, caller } = exchange;
  if (caller !== undefined && (hasBody(route) || route.needsPermit)) await requireOwner?.(caller);
}

async function handle<Deps>(exchange: Exchange<Deps>, { deps, changes }: StageDeps<Deps>): Promise<void> {
  const { route, checked } = exchange;
  exchange.checked = undefined;
  try {
    exchange.reply = await route.handler(checked!, deps);
  } catch (error) {
    // That there is nothing to delete may be the work of a request whose change is not written yet.
    if (route.withoutRoom === 'confirmed') await changes?.confirm();
    throw error;
  } finally {
    exchange.releaseBody();
  }
}

/**
 * Waits until the change of a request is written, before it is acknowledged. Whoever gets the document itself has all
 * that he asked for.
 *
 * @throws PlatenError UNAVAILABLE.
 */
async function confirmChange<Deps>(
  { route, reply }: Exchange<Deps>,
  { changes }: StageDeps<Deps>,
): Promise<void> {
  if (route.method === 'get' || route.withoutRoom === 'unconfirmed' || 'body' in reply!) return;
  await changes?.confirm().catch((error: PlatenError) => {
    throw asDeclared(route, error);
  });
}

/** A route whose caller knows one error alone gets that one. */
function asDeclared({ rawBody }: RouteDeclaration, error: PlatenError): PlatenError {
  if (rawBody?.rejectedAs === undefined) return error;
  return new PlatenError(rawBody.rejectedAs, error.message, { cause: error });
}

function recordOutcome<Deps>(exchange: Exchange<Deps>, { limits }: StageDeps<Deps>): void {
  limits?.recordSuccess(exchange);
}

/** @throws PlatenError when there is no room for the response to a GET. */
function respond<Deps>(exchange: Exchange<Deps>, { logger }: StageDeps<Deps>): void {
  const { route, response, reply, responseReservation } = exchange;
  try {
    sendResponse(response, reply!, route.responses[reply!.status], responseReservation, logger);
  } catch (error) {
    if (!(error instanceof PlatenError) || route.method === 'get') throw error;
    // The requested work has been done: an error response would be wrong.
    responseReservation?.release();
    response.destroy();
  }
}

function sha256(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** Media types of bodies that a route takes besides JSON. */
function otherForms({ textBody, formBody }: RouteDeclaration): string[] {
  return [...(textBody ? [textBody.mediaType] : []), ...(formBody ? [FORM_TYPE] : [])];
}

function hasBody(route: RouteDeclaration): boolean {
  return route.body !== undefined || route.rawBody !== undefined;
}
