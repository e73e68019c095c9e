import type { Response } from 'express';
import { PlatenError } from '../errors/registry.ts';
import { allowances } from '../limits/allowances.ts';
import { RATE_WINDOW_MS, type RateKind, type RateLimiter } from '../limits/rate-limiter.ts';
import type { Plan } from '../plans/plan.ts';
import type { RouteDeclaration } from './route.ts';

const WINDOW_S = RATE_WINDOW_MS / 1000;
/** How each kind is called to the caller. */
const COUNTED: Readonly<Record<RateKind, string>> = {
  requests: 'requests',
  reads: 'reads',
  account: 'requests with an access token',
};

/**
 * Counts a request and tells the caller where it stands, in the fields of draft-ietf-httpapi-ratelimit-headers-10.
 *
 * @throws PlatenError RATE_LIMITED.
 */
export async function limitRate(
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
