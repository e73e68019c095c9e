import type { Request, Response } from 'express';
import type { Caller } from '../accounts/caller.ts';
import { type ErrorCode, PlatenError, toPlatenError } from '../errors/registry.ts';
import { allowances } from '../limits/allowances.ts';
import { RATE_WINDOW_MS, type RateKind, type RateLimiter } from '../limits/rate-limiter.ts';
import type { RequestRecorder } from '../usage/request-recorder.ts';
import { CallerGone } from './read-json.ts';
import { contextOf } from './request-context.ts';
import type { RouteDeclaration } from './route.ts';

const WINDOW_S = RATE_WINDOW_MS / 1000;

/** Stands around every request that comes with an API key, once it is known whose it is. */
export type KeyGuard = <Answer>(
  route: RouteDeclaration,
  exchange: { readonly request: Request; readonly response: Response; readonly caller: Caller },
  work: () => Promise<Answer>,
) => Promise<Answer>;

/** Holds callers to the rate of their plan, and records what was asked for and what came of it. */
export function keyGuard(parts: { limiter: RateLimiter; recorder: RequestRecorder }): KeyGuard {
  return async (route, { request, response, caller }, work) => {
    const record = (code: ErrorCode | undefined) =>
      route.asksForWork &&
      parts.recorder.record({
        caller,
        endpoint: route.path,
        ipAddress: request.ip ?? '',
        errorCode: code,
        hasJob: contextOf(response).jobId !== undefined,
      });
    try {
      await limitRate(parts.limiter, route.asksForWork ? 'requests' : 'reads', caller, response);
      const answer = await work();
      record(undefined);
      return answer;
    } catch (error) {
      if (!(error instanceof CallerGone)) record(toPlatenError(error).code);
      throw error;
    }
  };
}

/**
 * Counts the request and tells the caller where it stands, in the fields of draft-ietf-httpapi-ratelimit-headers-10.
 *
 * @throws PlatenError RATE_LIMITED.
 */
async function limitRate(
  limiter: RateLimiter,
  kind: RateKind,
  { accountId, plan }: Caller,
  response: Response,
): Promise<void> {
  const allowed = allowances(plan);
  const verdict = await limiter.take(accountId, kind, allowed[kind]);
  const seconds = Math.ceil(verdict.resetMs / 1000);
  const policies = Object.entries(allowed).map(([name, quota]) => `"${name}";q=${quota};w=${WINDOW_S}`);
  response.setHeader('RateLimit-Policy', policies.join(', '));
  response.setHeader('RateLimit', `"${kind}";r=${verdict.remaining};t=${seconds}`);
  if (verdict.allowed) return;
  throw new PlatenError(
    'RATE_LIMITED',
    `The plan allows ${allowed[kind]} ${kind === 'reads' ? 'reads' : 'requests'} a minute.`,
    { retryAfterSeconds: seconds },
  );
}
