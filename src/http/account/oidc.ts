import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { PendingSignIn } from '../../tenants/accounts/oidc-sign-in.ts';
import type { ApiDeps } from '../api-deps.ts';
import { type CookieKind, cookieIn, setCookie } from '../request/cookies.ts';
import { defineRoute } from '../request/route.ts';
import { browserOf, replaceSession } from './sessions.ts';

const tags = ['Authentication'];
const DASHBOARD = '/dashboard';
const CALLBACK = '/auth/oidc/callback';
/** Contains the pending sign-in while the browser is at the issuer. `Lax`, because the issuer is another site. */
const PENDING_COOKIE: CookieKind = { name: 'platen_oidc', sameSite: 'Lax' };
/** The time limit of a pending sign-in, in seconds. */
const PENDING_S = 600;
/** Characters of a path, which must fit encoded into the headers of a request. */
const MAX_PATH = 1000;

const start = defineRoute({
  method: 'get',
  path: '/auth/oidc/start',
  operationId: 'startOidcSignIn',
  summary: 'Start signing in with OpenID Connect, in a browser',
  description:
    'Redirects to the page of the issuer, which redirects back to GET /auth/oidc/callback within ten minutes. GET /auth/config says whether there is an issuer.',
  tags,
  auth: 'none',
  query: z.strictObject({
    returnTo: z
      .string()
      .max(MAX_PATH)
      .default(DASHBOARD)
      .refine(isOfDashboard, 'must be the path of a page under /dashboard, for example /dashboard/renders')
      .describe('The page of the dashboard to come back to.'),
  }),
  responses: {
    302: {
      description: 'To the issuer.',
      headers: {
        Location: 'The page of the issuer.',
        'Set-Cookie': 'The browser has to send this cookie to the callback.',
      },
    },
  },
  errors: ['NOT_FOUND', 'UNAVAILABLE'],
}).handledBy(async ({ query }, { oidcSignIn, publicUrl }: ApiDeps) => {
  const { location, pending } = await required(oidcSignIn).begin(redirectUri(publicUrl()), query.returnTo);
  return {
    status: 302,
    headers: { Location: location, 'Set-Cookie': pendingCookie(publicUrl(), pending) },
  };
});

const callback = defineRoute({
  method: 'get',
  path: CALLBACK,
  operationId: 'finishOidcSignIn',
  summary: 'Finish signing in with OpenID Connect',
  description:
    'For the browser that GET /auth/oidc/start sent to the issuer. It gets a session and is redirected to the page that it asked for. If the issuer did not sign it in, it is redirected to the sign-in page, which says so.',
  tags,
  auth: 'none',
  query: z.looseObject({
    // Of any length: the bound of a request's headers, 16 KiB, bounds its address as well.
    state: z.string().optional().describe('The `state` that the browser was sent to the issuer with.'),
    code: z.string().optional().describe('The code that the issuer exchanges for tokens.'),
    error: z.string().optional().describe('Why the issuer gave no code.'),
  }),
  responses: {
    302: {
      description: 'To a page of the dashboard.',
      headers: { Location: 'The page.', 'Set-Cookie': 'The session, if there is one now.' },
    },
  },
  errors: ['NOT_FOUND', 'UNAVAILABLE'],
}).handledBy(async (request, deps: ApiDeps) => {
  const { query, cookies, clientAddress } = request;
  const { publicUrl, logger } = deps;
  const oidcSignIn = required(deps.oidcSignIn);
  const base = publicUrl();
  const to = (path: string, cookie: string) => ({
    status: 302 as const,
    headers: { Location: base + path, 'Set-Cookie': cookie },
  });
  const pending = pendingIn(cookies, base);
  if (pending === undefined) return to(`${DASHBOARD}/sign-in?issuer=late`, pendingCookie(base));
  try {
    const authResponse = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)])),
    );
    const started = { pending, redirectUri: redirectUri(base) };
    const issued = await oidcSignIn.finish(authResponse, started, clientAddress, browserOf(request));
    return to(pending.returnTo, await replaceSession(issued, request, deps));
  } catch (error) {
    if (!(error instanceof PlatenError)) throw error;
    const isRejected = error.code === 'UNAUTHENTICATED';
    logger.warn({ err: error }, 'the response of the issuer did not sign anybody in');
    return to(`${DASHBOARD}/sign-in?issuer=${isRejected ? 'refused' : 'away'}`, pendingCookie(base));
  }
});

export const oidcRoutes = [start, callback];

function required<T>(oidcSignIn: T | undefined): T {
  if (oidcSignIn !== undefined) return oidcSignIn;
  throw new PlatenError(
    'NOT_FOUND',
    'There is no issuer to sign in at: whoever operates this service set none.',
  );
}

function redirectUri(publicUrl: string): string {
  return publicUrl + CALLBACK;
}

/** Whether it is the path of a page of the dashboard, and browsers cannot read it as another address. */
function isOfDashboard(path: string): boolean {
  if (!path.startsWith('/') || !URL.canParse(path, 'http://here')) return false;
  const { origin, pathname, href } = new URL(path, 'http://here');
  const isBelow = pathname === DASHBOARD || pathname.startsWith(`${DASHBOARD}/`);
  return origin === 'http://here' && isBelow && href === `http://here${path}`;
}

/** @param pending undefined deletes the cookie. */
function pendingCookie(publicUrl: string, pending?: PendingSignIn): string {
  const value = pending === undefined ? '' : Buffer.from(JSON.stringify(pending)).toString('base64url');
  return setCookie(PENDING_COOKIE, value, pending === undefined ? 0 : PENDING_S, publicUrl);
}

const pendingSchema = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string().refine(isOfDashboard),
});

/** The pending sign-in of this browser; undefined when it has expired or never began. */
function pendingIn(cookies: string | undefined, publicUrl: string): PendingSignIn | undefined {
  const value = cookieIn(cookies, PENDING_COOKIE, publicUrl);
  try {
    return pendingSchema.parse(JSON.parse(Buffer.from(value ?? '', 'base64url').toString()));
  } catch {
    return undefined;
  }
}
