import type { ErrorRequestHandler, RequestHandler } from 'express';
import { PlatenError, toPlatenError } from '../errors/registry.ts';
import { isDatabaseAway } from '../store/connection.ts';
import type { Logger } from '../telemetry/logger.ts';
import { sendError } from './answers.ts';
import { challengeOf } from './challenge.ts';
import { CallerGone, letRestPass } from './read-json.ts';
import { contextOf } from './request-context.ts';

/** For what no route takes. */
export const refuseUnknown: RequestHandler = () => {
  throw new PlatenError('NOT_FOUND', 'There is nothing at this address.');
};

/** The one place where errors become answers. What is not in the registry is told as INTERNAL, and logged in full. */
export function answerErrors(logger: Logger): ErrorRequestHandler {
  return async (thrown: unknown, request, response, _next) => {
    const { requestId, jobId, auth } = contextOf(response);
    if (thrown instanceof CallerGone) {
      response.destroy();
      return;
    }
    const error = isBadPath(thrown)
      ? new PlatenError('VALIDATION', 'The path is not validly encoded.')
      : isDatabaseAway(thrown)
        ? new PlatenError('UNAVAILABLE', undefined, { cause: thrown, retryAfterSeconds: 5 })
        : toPlatenError(thrown);
    if (error.status >= 500)
      logger.error({ err: error.cause ?? error, code: error.code, requestId, jobId }, 'request failed');
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    await letRestPass(request, response);
    if (error.status === 401) response.setHeader('WWW-Authenticate', challengeOf(auth, request));
    if (error.retryAfterSeconds !== undefined) {
      response.setHeader('Retry-After', Math.max(1, Math.ceil(error.retryAfterSeconds)));
    }
    sendError(response, error.status, {
      message: error.details.length > 0 ? error.details : error.message,
      code: error.code,
      jobId: error.jobId ?? jobId,
    });
  };
}

/** Express meets a path that is not valid percent-encoding before any handler does. */
function isBadPath(thrown: unknown): boolean {
  return thrown instanceof URIError && (thrown as { status?: unknown }).status === 400;
}
