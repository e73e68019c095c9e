import type { Request, Response } from 'express';
import type { Caller } from '../accounts/caller.ts';
import { type ErrorCode, toPlatenError } from '../errors/registry.ts';
import type { AdmissionTimer } from '../limits/admission-timer.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import type { RequestRecorder } from '../usage/request-recorder.ts';
import type { AccountCaller } from './authenticate-bearer.ts';
import { limitRate } from './limit-rate.ts';
import { CallerGone } from './read-json.ts';
import { contextOf } from './request-context.ts';
import type { RouteDeclaration } from './route.ts';

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
      ipAddress: request.ip ?? '',
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
