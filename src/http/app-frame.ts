import express, { type Express } from 'express';
import helmet from 'helmet';
import type { AdmissionTurns } from '../limits/admission-turns.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Authenticators } from './authenticate.ts';
import type { BodyIntake } from './body-intake.ts';
import type { CallerGuard } from './caller-guard.ts';
import { answerErrors, refuseUnknown } from './error-handler.ts';
import { registerRoutes } from './register-routes.ts';
import { trackRequests } from './request-context.ts';
import type { Route } from './route.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** What stands around the routes of every app: tracking, safe headers, and errors told in one way. */
export function frameApp<Parts extends { readonly logger: Logger; readonly metrics: Metrics }>(options: {
  readonly routes: readonly Route<Parts>[];
  readonly parts: Parts;
  readonly authenticators: Authenticators;
  readonly guard?: CallerGuard;
  /** Takes in the bodies of requests, if there are any. */
  readonly bodies?: BodyIntake;
  /** Bounds the answers that wait to be read, if they can be large. */
  readonly answers?: UnreadAnswers;
  /** Has accounts take turns with their requests for work, if there are any. */
  readonly turns?: AdmissionTurns;
  /** How many proxies in front may name the client in X-Forwarded-For. */
  readonly trustedProxies: number;
}): Express {
  const { routes, parts, authenticators, guard, bodies, answers, turns, trustedProxies } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustedProxies);
  app.enable('case sensitive routing');
  app.use(trackRequests(parts));
  app.use(safeHeaders());
  registerRoutes({
    app,
    routes,
    parts,
    authenticators,
    guard,
    bodies,
    answers,
    turns,
    observeAdmission: (step, seconds) => parts.metrics.admissionDuration.observe({ step }, seconds),
    logger: parts.logger,
  });
  app.use(refuseUnknown);
  app.use(answerErrors(parts.logger));
  return app;
}

/** Answers are data: nothing in them may run or be framed. Pages set a policy of their own. */
function safeHeaders() {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    xFrameOptions: { action: 'deny' },
  });
}
