import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { observeDuration } from '../../infra/telemetry/exemplars.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { HttpMetrics } from './http-metrics.ts';
import type { Auth } from './route.ts';

interface RequestContext {
  readonly requestId: string;
  /** The pattern of the route, never the path, which may contain a token. */
  route: string;
  auth: Auth;
  logLevel: 'info' | 'debug';
  accountId?: string;
  jobId?: string;
  traceId?: string;
  /** The body of the response, where it is JSON. */
  sentJson?: unknown;
  /** Called once the response has been sent, or its caller has disconnected. */
  afterwards?: () => void;
}

/** Requests that no route handles are counted together; otherwise a scanner would add a label for each of its paths. */
const NO_ROUTE = 'none';
/** The status that nginx logs for a caller that disconnected before its response. */
export const CLIENT_CLOSED_REQUEST = 499;
const SANE_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Gives every request an id. Logs and measures it when its response has been sent, or its caller has disconnected. */
export function trackRequests({ logger, metrics }: { logger: Logger; metrics: HttpMetrics }): RequestHandler {
  return (request, response, next) => {
    const began = performance.now();
    const requestId = requestIdOf(request);
    const context: RequestContext = { requestId, route: NO_ROUTE, auth: 'none', logLevel: 'info' };
    response.locals.context = context;
    response.setHeader('X-Request-Id', requestId);
    response.once('close', () => {
      const ms = performance.now() - began;
      const { method } = request;
      const { route, logLevel, accountId, jobId, traceId } = context;
      const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST;
      metrics.httpRequests.inc({ method, route, status });
      observeDuration(metrics.httpDuration, { method, route }, ms / 1000, traceId);
      logger[logLevel](
        { method, route, status, ms: Math.round(ms * 10) / 10, requestId, accountId, jobId, traceId },
        'request',
      );
      context.afterwards?.();
    });
    next();
  };
}

export function contextOf(response: Response): RequestContext {
  return response.locals.context as RequestContext;
}

function requestIdOf(request: Request): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}
