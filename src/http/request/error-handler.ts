import type { ErrorRequestHandler, RequestHandler } from 'express';
import { PlatenError, toPlatenError } from '../../infra/errors/registry.ts';
import { docsUrlOf, REMEDIES } from '../../infra/errors/remedies.ts';
import { isDatabaseAway } from '../../infra/store/database-away.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import { challengeOf } from './challenge.ts';
import { CallerGone, drainRequest } from './read-json.ts';
import { contextOf } from './request-context.ts';
import { sendError } from './responses.ts';

/** Rejects requests that no route handles. */
export const rejectUnknownRoute: RequestHandler = () => {
  throw new PlatenError('NOT_FOUND', 'There is nothing at this address.');
};

/**
 * Turns every error into a response. An error without a code of the registry is sent as INTERNAL and logged in full.
 *
 * @param publicUrl the address of the documentation; undefined in a process that serves none.
 */
export function respondWithErrors(
  logger: Logger,
  publicUrl: (() => string) | undefined,
): ErrorRequestHandler {
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
    await drainRequest(request, response);
    if (error.status === 401) response.setHeader('WWW-Authenticate', challengeOf(auth, request));
    if (error.retryAfterSeconds !== undefined) {
      response.setHeader('Retry-After', Math.max(1, Math.ceil(error.retryAfterSeconds)));
    }
    sendError(response, error.status, {
      message: error.details.length > 0 ? error.details : error.message,
      code: error.code,
      remedy: REMEDIES[error.code],
      docsUrl: publicUrl && docsUrlOf(error.code, publicUrl()),
      jobId: error.jobId ?? jobId,
    });
  };
}

/** Whether Express has rejected a path with invalid percent-encoding, which it does before any handler runs. */
function isBadPath(thrown: unknown): boolean {
  return thrown instanceof URIError && (thrown as { status?: unknown }).status === 400;
}
