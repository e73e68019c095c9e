import type { Request, Response } from 'express';
import type { ObserveAdmission } from '../../infra/overload/admission-timer.ts';
import { callersTrace, recordedTrace, type TraceContext } from '../../infra/tracing/trace-context.ts';
import type { Tracing } from '../../infra/tracing/tracing.ts';
import { CLIENT_CLOSED_REQUEST, contextOf } from './request-context.ts';
import type { RouteDeclaration } from './route.ts';

/** The place in a trace of a request for work, and its admission's observer, which records the admission there. */
export interface TracedRequest {
  readonly trace: TraceContext | undefined;
  readonly observe: ObserveAdmission;
}

/** Records a request for work, from its headers until its response is sent, in its caller's trace or a new one. */
export function traceRequest(
  tracing: Tracing,
  { method, path }: Pick<RouteDeclaration, 'method' | 'path'>,
  request: Request,
  response: Response,
  observe: ObserveAdmission,
): TracedRequest {
  if (!tracing.on) return { trace: undefined, observe };
  const startTime = Date.now();
  const span = tracing.startSpan(`${method.toUpperCase()} ${path}`, {
    kind: 'server',
    parent: callersTrace(request.headers),
    startTime,
    attributes: { 'http.request.method': method.toUpperCase(), 'http.route': path },
  });
  const { context: trace } = span;
  const context = contextOf(response);
  const traceId = recordedTrace(trace);
  if (traceId !== undefined) context.traceId = traceId;
  response.once('close', () => {
    const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST;
    span.end({
      attributes: {
        'http.response.status_code': status,
        'platen.request.id': context.requestId,
        'platen.account.id': context.accountId,
        'platen.job.id': context.jobId,
      },
      error: status >= 500 ? String(status) : undefined,
    });
  });
  return {
    trace,
    observe(step, seconds) {
      observe(step, seconds);
      if (step === 'total') tracing.startSpan('admission', { parent: trace, startTime }).end();
    },
  };
}
