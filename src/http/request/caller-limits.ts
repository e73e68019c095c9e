import { type ErrorCode, PlatenError, toPlatenError } from '../../infra/errors/registry.ts';
import {
  allowances,
  RATE_WINDOW_MS,
  type RateKind,
  type RateLimiter,
} from '../../tenants/limits/rate-limiter.ts';
import type { RequestRecorder } from '../../tenants/usage/request-recorder.ts';
import { withoutKey } from './authenticate-bearer.ts';
import { clientAddress } from './client-address.ts';
import type { Exchange } from './exchange.ts';
import { keepsDetails, noteWhenSent } from './log-details.ts';
import { CallerGone } from './read-json.ts';
import { contextOf } from './request-context.ts';
import type { RouteDeclaration } from './route.ts';

const WINDOW_S = RATE_WINDOW_MS / 1000;
/** The name of each kind in messages to callers. */
const KIND_NAMES: Readonly<Record<RateKind, string>> = {
  requests: 'requests',
  reads: 'reads',
  account: 'requests with an access token',
};

/** Enforces the rates of authenticated callers, and records their requests for work with their outcomes. */
export class CallerLimits {
  readonly #limiter: RateLimiter;
  readonly #recorder: RequestRecorder;

  constructor({ limiter, recorder }: { readonly limiter: RateLimiter; readonly recorder: RequestRecorder }) {
    this.#limiter = limiter;
    this.#recorder = recorder;
  }

  /** Counts a request and sets draft-ietf-httpapi-ratelimit-headers-10. @throws PlatenError RATE_LIMITED. */
  async limitRate({ route, caller, response, admission }: Exchange<never>): Promise<void> {
    if (caller === undefined) return;
    const { accountId, plan } = caller;
    const allowed = allowances(plan);
    const kind = kindOf(route);
    const verdict = await admission.timer.time('limit', () =>
      this.#limiter.take(accountId, kind, allowed[kind]),
    );
    const seconds = Math.ceil(verdict.resetMs / 1000);
    const policies = kindsWith(kind).map((name) => `"${name}";q=${allowed[name]};w=${WINDOW_S}`);
    response.setHeader('RateLimit-Policy', policies.join(', '));
    response.setHeader('RateLimit', `"${kind}";r=${verdict.remaining};t=${seconds}`);
    if (verdict.allowed) return;
    throw new PlatenError('RATE_LIMITED', `The plan allows ${allowed[kind]} ${KIND_NAMES[kind]} a minute.`, {
      retryAfterSeconds: seconds,
    });
  }

  recordSuccess(exchange: Exchange<never>): void {
    this.#record(exchange, exchange.reply?.status ?? 200, undefined);
  }

  /** A request that fails after its success was recorded stays a success: the requested work has been done. */
  recordFailure(exchange: Exchange<never>, error: unknown): void {
    if (error instanceof CallerGone) return;
    const { code, status } = toPlatenError(error);
    this.#record(exchange, status, code);
  }

  #record(exchange: Exchange<never>, statusCode: number, errorCode: ErrorCode | undefined): void {
    const { route, caller, request, response } = exchange;
    if (!route.requestsWork || caller === undefined || exchange.isRecorded) return;
    exchange.isRecorded = true;
    const note = this.#recorder.record({
      caller: 'apiKeyId' in caller ? caller : withoutKey(caller, 'live'),
      endpoint: route.path,
      ipAddress: clientAddress(request) ?? '',
      method: request.method,
      statusCode,
      durationMs: Math.round(performance.now() - exchange.startedAt),
      errorCode,
      jobId: contextOf(response).jobId,
    });
    if (note !== undefined && keepsDetails(exchange)) noteWhenSent(exchange, note);
  }
}

function kindOf(route: RouteDeclaration): RateKind {
  if (route.requestsWork) return 'requests';
  return route.auth === 'bearer' ? 'account' : 'reads';
}

/** The kinds in which requests with the same type of credential are counted. */
function kindsWith(kind: RateKind): readonly RateKind[] {
  return kind === 'account' ? ['account'] : ['requests', 'reads'];
}
