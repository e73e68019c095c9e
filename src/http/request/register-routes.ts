import type { Express, Request, RequestHandler, Response } from 'express';
import { PlatenError } from '../../infra/errors/registry.ts';
import { NO_TRACING } from '../../infra/tracing/tracing.ts';
import { Exchange } from './exchange.ts';
import { contextOf } from './request-context.ts';
import { traceRequest } from './request-trace.ts';
import type { Route } from './route.ts';
import { runStages, type StageDeps } from './stages.ts';

/**
 * Registers declared routes with an app. A request to a known path with an unsupported method is rejected with the
 * supported ones. So each path is handled completely before a later path that also matches: `/templates/preview` before
 * `/templates/:id`.
 */
export function registerRoutes<Deps>(
  app: Express,
  routes: readonly Route<Deps>[],
  deps: StageDeps<Deps>,
): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    for (const route of routes.filter((candidate) => candidate.path === path)) {
      app[route.method](path, runRoute(route, deps));
    }
    // `app.all` would make a handler for each of the three dozen methods that there are.
    app.route(path).all(rejectMethod(path, routes));
  }
}

function runRoute<Deps>(route: Route<Deps>, deps: StageDeps<Deps>): RequestHandler {
  if (deps.authenticators[route.auth] === undefined)
    throw new Error(`Nothing authenticates ${route.path} by ${route.auth}.`);
  return async (request, response) => {
    const context = contextOf(response);
    context.route = route.path;
    context.auth = route.auth;
    if (route.logLevel !== undefined) context.logLevel = route.logLevel;
    const { tracing = NO_TRACING, observeAdmission } = deps;
    const traced = route.requestsWork && traceRequest(tracing, route, request, response, observeAdmission);
    await runStages(new Exchange(route, request, response, traced), deps);
  };
}

function rejectMethod<Deps>(path: string, routes: readonly Route<Deps>[]): RequestHandler {
  const methods = routes.filter((route) => route.path === path).map(({ method }) => method.toUpperCase());
  const allow = [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort().join(', ');
  return (request: Request, response: Response) => {
    contextOf(response).route = path;
    response.setHeader('Allow', allow);
    throw new PlatenError('METHOD_NOT_ALLOWED', `${request.method} is not supported here; ${allow} is.`);
  };
}
