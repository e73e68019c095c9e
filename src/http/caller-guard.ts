import type { Request, Response } from 'express';
import type { Caller } from '../accounts/caller.ts';
import { type ErrorCode, PlatenError, toPlatenError } from '../errors/registry.ts';
import type { AdmissionTimer } from '../limits/admission-timer.ts';
import { allowances, RATE_WINDOW_MS, type RateKind, type RateLimiter } from '../limits/rate-limiter.ts';
import type { Plan } from '../plans/plan.ts';
import type { RequestRecorder } from '../usage/request-recorder.ts';
import type { AccountCaller } from './authenticate-bearer.ts';
import { clientAddress } from './client-address.ts';
import { CallerGone } from './read-json.ts';
import { contextOf } from './request-context.ts';
import type { RouteDeclaration } from './route.ts';

const WINDOW_S = RATE_WINDOW_MS / 1000;
/** How each kind is called to the caller. */
const COUNTED: Readonly<Record<RateKind, string>> = {
  requests: 'requests',
  reads: 'reads',
  account: 'requests with an access token',
};

/** A request and its answer to be; unless said otherwise the caller is known, by an API key or by a bearer token. */
export interface Exchange<Who = Caller | AccountCaller> {
  readonly request: Request;
  readonly response: Response;
  readonly caller: Who;
  readonly admissionTimer: AdmissionTimer;
}

/** Stands around every request, once it is known whose it is. */
export type CallerGuard = <Answer>(
  route: RouteDeclaration,
  exchange: Exchange,
  work: () => Promise<Answer>,
) => Promise<Answer>;

/** Holds accounts to their rates, and records requests for work and what came of them. */
export function callerGuard(parts: { limiter: RateLimiter; recorder: RequestRecorder }): CallerGuard {
  return async (route, exchange, work) => {
    const limited = async () => {
      const { caller, response, admissionTimer } = exchange;
      await admissionTimer.time('limit', () => limitRate(parts.limiter, route, caller, response));
      return await work();
    };
    const asksForWork = route.asksForWork && hasKey(exchange);
    return asksForWork ? await recorded(parts.recorder, route, exchange, limited) : await limited();
  };
}

/**
 * Counts a request and tells the caller where it stands, in the fields of draft-ietf-httpapi-ratelimit-headers-10.
 *
 * @throws PlatenError RATE_LIMITED.
 */
async function limitRate(
  limiter: RateLimiter,
  route: RouteDeclaration,
  { accountId, plan }: { readonly accountId: string; readonly plan: Plan },
  response: Response,
): Promise<void> {
  const allowed = allowances(plan);
  const kind = kindOf(route);
  const verdict = await limiter.take(accountId, kind, allowed[kind]);
  const seconds = Math.ceil(verdict.resetMs / 1000);
  const policies = kindsBeside(kind).map((name) => `"${name}";q=${allowed[name]};w=${WINDOW_S}`);
  response.setHeader('RateLimit-Policy', policies.join(', '));
  response.setHeader('RateLimit', `"${kind}";r=${verdict.remaining};t=${seconds}`);
  if (verdict.allowed) return;
  throw new PlatenError('RATE_LIMITED', `The plan allows ${allowed[kind]} ${COUNTED[kind]} a minute.`, {
    retryAfterSeconds: seconds,
  });
}

function kindOf(route: RouteDeclaration): RateKind {
  if (route.auth === 'bearer') return 'account';
  return route.asksForWork ? 'requests' : 'reads';
}

/** The kinds that requests with the same credential are counted in. */
function kindsBeside(kind: RateKind): readonly RateKind[] {
  return kind === 'account' ? ['account'] : ['requests', 'reads'];
}

async function recorded<Answer>(
  recorder: RequestRecorder,
  route: RouteDeclaration,
  { request, response, caller }: Exchange<Caller>,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const record = (errorCode: ErrorCode | undefined) =>
    recorder.record({
      caller,
      endpoint: route.path,
      ipAddress: clientAddress(request) ?? '',
      errorCode,
      hasJob: contextOf(response).jobId !== undefined,
    });
  try {
    const answer = await work();
    record(undefined);
    return answer;
  } catch (error) {
    if (!(error instanceof CallerGone)) record(toPlatenError(error).code);
    throw error;
  }
}

function hasKey(exchange: Exchange): exchange is Exchange<Caller> {
  return 'apiKeyId' in exchange.caller;
}
