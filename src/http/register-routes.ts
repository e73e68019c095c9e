import { createHash } from 'node:crypto';
import type { Express, Request, RequestHandler, Response } from 'express';
import { PlatenError } from '../errors/registry.ts';
import { AdmissionTimer, type ObserveAdmission } from '../limits/admission-timer.ts';
import type { AdmissionTurns } from '../limits/admission-turns.ts';
import { networkOf } from '../limits/network-of.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type AdmissionTurn, admissionTurn, NO_TURN } from './admission-turn.ts';
import { sendAnswer } from './answers.ts';
import type { Authenticators } from './authenticate.ts';
import type { BodyIntake } from './body-intake.ts';
import type { CallerGuard, Exchange } from './caller-guard.ts';
import { checkRequest } from './check-request.ts';
import { clientAddress } from './client-address.ts';
import { onHangUp } from './hang-up.ts';
import { type JsonBody, readBytes, readJson } from './read-json.ts';
import { contextOf } from './request-context.ts';
import type { AnyAnswer, Identities, Route } from './route.ts';
import type { AnswerShare, UnreadAnswers } from './unread-answers.ts';

type AnyCaller = Identities[keyof Identities];

/** Largest body of a request that needs no credential, in bytes. */
const ANONYMOUS_BODY_BYTES = 64 * 1024;
/** What is kept free for an answer that may be large, until it is known how large it is. Bytes. */
const LARGE_ANSWER_BYTES = 1024 * 1024;
const NO_BODY = Buffer.alloc(0);

export interface Registration<Parts> {
  readonly app: Express;
  readonly routes: readonly Route<Parts>[];
  readonly parts: Parts;
  readonly authenticators: Authenticators;
  /** Stands around the requests that come with a credential. */
  readonly guard?: CallerGuard | undefined;
  /** Takes in the bodies of requests; of an app whose requests have none, absent. */
  readonly bodies?: BodyIntake | undefined;
  /** Bounds the answers that wait to be read; of an app whose answers are small, absent. */
  readonly answers?: UnreadAnswers | undefined;
  /** Has accounts take turns with their requests for work; of an app that takes none, absent. */
  readonly turns?: AdmissionTurns | undefined;
  readonly observeAdmission: ObserveAdmission;
  readonly logger: Logger;
}

/**
 * Makes declared routes answer. A path that is known, asked for with a method that is not, is told which ones are; so a
 * path is dealt with before the next one that fits as well: `/templates/preview` before `/templates/:id`.
 */
export function registerRoutes<Parts>(registration: Registration<Parts>): void {
  const { app, routes } = registration;
  for (const path of new Set(routes.map((route) => route.path))) {
    for (const route of routes.filter((candidate) => candidate.path === path)) {
      app[route.method](path, runRoute(route, registration));
    }
    app.all(path, refuseMethod(path, routes));
  }
}

/** The steps of every request, in this order: who asks, the body (its limit is the plan's), its form, its handler. */
function runRoute<Parts>(
  route: Route<Parts>,
  { parts, authenticators, guard, bodies, answers, turns, observeAdmission, logger }: Registration<Parts>,
): RequestHandler {
  const authenticate: ((request: Request) => Promise<AnyCaller>) | undefined = authenticators[route.auth];
  if (authenticate === undefined) throw new Error(`Nothing authenticates ${route.path} by ${route.auth}.`);
  return async (request, response) => {
    const context = contextOf(response);
    context.route = route.path;
    context.auth = route.auth;
    if (route.logLevel !== undefined) context.logLevel = route.logLevel;
    let turn = NO_TURN;
    const admissionTimer = new AdmissionTimer(route.asksForWork && observeAdmission, () => turn.end());
    const caller = await admissionTimer.time('authenticate', () => authenticate(request));
    if (caller !== undefined) context.accountId = caller.accountId;
    const exchange = { request, response, caller, admissionTimer };
    const inTurn = route.asksForWork || route.takesTurn;
    if (inTurn && caller && turns) turn = admissionTurn(turns, caller.accountId, response);
    let share: AnswerShare | undefined;
    const work = () => {
      const ownerId = caller?.accountId ?? strangersOf(request);
      share = answers?.begin(ownerId, route.largeAnswer ? LARGE_ANSWER_BYTES : 0);
      return handle(route, parts, bodies, turn, exchange);
    };
    let answer: AnyAnswer;
    try {
      answer = await (caller && guard ? guard(route, { ...exchange, caller }, work) : work());
    } catch (error) {
      share?.release();
      throw error;
    }
    deliver(route, answer, share, response, logger);
  };
}

/** Sends an answer. @throws PlatenError when there is no room for one that did nothing but look. */
function deliver<Parts>(
  route: Route<Parts>,
  answer: AnyAnswer,
  share: AnswerShare | undefined,
  response: Response,
  logger: Logger,
): void {
  try {
    sendAnswer(response, answer, route.responses[answer.status], share, logger);
  } catch (error) {
    share?.release();
    if (!(error instanceof PlatenError) || route.method === 'get') throw error;
    // What was asked for has been done: an answer that says otherwise would be wrong.
    response.destroy();
  }
}

/** Reads and checks what was sent, and has the route answer it. */
async function handle<Parts>(
  route: Route<Parts>,
  parts: Parts,
  bodies: BodyIntake | undefined,
  turn: AdmissionTurn,
  exchange: Exchange<AnyCaller>,
): Promise<AnyAnswer> {
  try {
    if (route.takesTurn && route.body === undefined) await turn.begin();
    // The body is held by the checked request alone, so that it is gone once the route says that it is done with it.
    const checked = await readAndCheck(route, bodies, turn, exchange);
    // What follows takes as long as the account's own templates do: it holds up nobody else.
    if (route.takesTurn && route.body !== undefined) turn.end();
    try {
      return await route.handler(checked, parts);
    } finally {
      checked.bodyDone();
    }
  } finally {
    turn.end();
  }
}

async function readAndCheck<Parts>(
  route: Route<Parts>,
  bodies: BodyIntake | undefined,
  turn: AdmissionTurn,
  { request, response, caller, admissionTimer }: Exchange<AnyCaller>,
): Promise<Parameters<Route<Parts>['handler']>[0]> {
  let body: JsonBody | undefined;
  let raw: Pick<JsonBody, 'bytes' | 'release'> | undefined;
  if (route.body !== undefined || route.rawBody !== undefined) {
    if (bodies === undefined) throw new Error(`Nothing takes in the bodies of ${route.path}.`);
    const ownerId = caller?.accountId ?? strangersOf(request);
    if (route.rawBody === undefined)
      body = await readJson(request, bodyLimit(caller), bodies, ownerId, () => turn.begin());
    else raw = await readRaw(request, route.rawBody, bodies, ownerId);
  }
  const release = (body ?? raw)?.release;
  try {
    const bodyHash = body && hashOfNamed(request, body);
    if (caller !== undefined) route.refuseBody?.(body?.value, caller.plan);
    const checked = {
      ...checkRequest(route, request, body?.value),
      rawBody: raw?.bytes ?? NO_BODY,
      caller,
      clientAddress: clientAddress(request),
      route: route.path,
      bodyHash: () => bodyHash ?? '',
      bodyDone() {
        checked.body = undefined;
        release?.();
        // What a request for work asks for is written down by now: others may be let in.
        turn.end();
      },
      admissionTimer,
      aboutJob(jobId: string) {
        contextOf(response).jobId = jobId;
      },
      setHeader: (name: string, value: string) => void response.setHeader(name, value),
      onHangUp: (listener: () => void) => onHangUp(response, listener),
    };
    return checked;
  } catch (error) {
    release?.();
    throw error;
  }
}

async function readRaw(
  request: Request,
  { maxBytes, refusedAs }: NonNullable<Route<unknown>['rawBody']>,
  bodies: BodyIntake,
  ownerId: string,
): Promise<Pick<JsonBody, 'bytes' | 'release'>> {
  try {
    return await readBytes(request, maxBytes, bodies, ownerId);
  } catch (error) {
    if (refusedAs === undefined || !(error instanceof PlatenError)) throw error;
    throw new PlatenError(refusedAs, error.message, { cause: error });
  }
}

/** Whose body it is when nobody is known: that of everybody in one network. */
function strangersOf(request: Request): string {
  return `network ${networkOf(clientAddress(request))}`;
}

/** Taken at once, so that the bytes need not be kept as long as the request takes. */
function hashOfNamed(request: Request, { bytes }: JsonBody): string | undefined {
  if (request.headers['idempotency-key'] === undefined) return undefined;
  return createHash('sha256').update(bytes).digest('hex');
}

function bodyLimit(caller: AnyCaller): number {
  return caller?.plan.maxInputSizeBytes ?? ANONYMOUS_BODY_BYTES;
}

function refuseMethod<Parts>(path: string, routes: readonly Route<Parts>[]): RequestHandler {
  const methods = routes.filter((route) => route.path === path).map(({ method }) => method.toUpperCase());
  const allow = [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort().join(', ');
  return (request: Request, response: Response) => {
    contextOf(response).route = path;
    response.setHeader('Allow', allow);
    throw new PlatenError('METHOD_NOT_ALLOWED', `${request.method} is not supported here; ${allow} is.`);
  };
}
