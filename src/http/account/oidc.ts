import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { PendingSignIn } from '../../tenants/accounts/oidc-client.ts';
import type { SignedIn } from '../../tenants/accounts/sign-in.ts';
import type { ApiDeps } from '../api-deps.ts';
import { type CookieKind, cookieIn, setCookie } from '../request/cookies.ts';
import { type AnyRequest, routesOf } from '../request/route.ts';
import { domainCallback, mailDomainSchema } from './oidc-domains.ts';
import { browserOf, replaceSession } from './sessions.ts';

const defineRoute = routesOf({ tags: ['Authentication'], auth: 'none' });
const DASHBOARD = '/dashboard';
const CALLBACK = '/auth/oidc/callback';
/** Contains the pending sign-in while the browser is at the issuer. `Lax`, because the issuer is another site. */
const PENDING_COOKIE: CookieKind = { name: 'platen_oidc', sameSite: 'Lax' };
/** The time limit of a pending sign-in, in seconds. */
const PENDING_S = 600;
/** Characters of a path, which must fit encoded into the headers of a request. */
const MAX_PATH = 1000;

const start = defineRoute('GET /auth/oidc/start', {
  operationId: 'startOidcSignIn',
  summary: 'Start signing in with OpenID Connect, in a browser',
  description:
    'Redirects to the page of the issuer, which redirects back to GET /auth/oidc/callback within ten minutes. GET /auth/config says whether there is an issuer.',
  query: z.strictObject({
    returnTo: z
      .string()
      .max(MAX_PATH)
      .default(DASHBOARD)
      .refine(isOfDashboard, 'must be the path of a page under /dashboard, for example /dashboard/renders')
      .describe('The page of the dashboard to come back to.'),
    domain: mailDomainSchema
      .optional()
      .describe(
        'The mail domain at whose issuer to sign in. Default: the issuer of the operator. Where nobody signs in so, the browser is sent back to the sign-in page, whatever the reason.',
      ),
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
}).handledBy(async ({ query, clientAddress }, deps: ApiDeps) => {
  const { oidcSignIn, domainSignIn, publicUrl } = deps;
  const { returnTo, domain } = query;
  const base = publicUrl();
  if (domain === undefined) {
    const { location, pending } = await required(oidcSignIn).begin(redirectUri(base), returnTo);
    return redirected(location, pendingCookie(base, pending));
  }
  try {
    const back = domainCallback(base, domain);
    const { location, pending } = await domainSignIn.begin(domain, back, returnTo, clientAddress);
    return redirected(location, pendingCookie(base, pending));
  } catch (error) {
    return redirected(signInPage(base, error, deps), pendingCookie(base));
  }
});

const callbackQuery = z.looseObject({
  // Of any length: the bound of a request's headers, 16 KiB, bounds its address as well.
  state: z.string().optional().describe('The `state` that the browser was sent to the issuer with.'),
  code: z.string().optional().describe('The code that the issuer exchanges for tokens.'),
  error: z.string().optional().describe('Why the issuer gave no code.'),
});
const callbackResponses = {
  302: {
    description: 'To a page of the dashboard.',
    headers: { Location: 'The page.', 'Set-Cookie': 'The session, if there is one now.' },
  },
} as const;

const callback = defineRoute(`GET ${CALLBACK}`, {
  operationId: 'finishOidcSignIn',
  summary: 'Finish signing in with OpenID Connect',
  description:
    'For the browser that GET /auth/oidc/start sent to the issuer. It gets a session and is redirected to the page that it asked for. If the issuer did not sign it in, it is redirected to the sign-in page, which says so.',
  query: callbackQuery,
  responses: callbackResponses,
  errors: ['NOT_FOUND', 'UNAVAILABLE'],
}).handledBy((request, deps: ApiDeps) => {
  const oidcSignIn = required(deps.oidcSignIn);
  return finished(request, deps, undefined, (authResponse, pending) => {
    const started = { pending, redirectUri: redirectUri(deps.publicUrl()) };
    return oidcSignIn.finish(authResponse, started, request.clientAddress, browserOf(request));
  });
});

const domainCallbackRoute = defineRoute(`GET ${CALLBACK}/:domain`, {
  operationId: 'finishDomainSignIn',
  summary: 'Finish signing in at the issuer of a mail domain',
  description:
    'As GET /auth/oidc/callback, for the issuer of a mail domain. Each domain has an address of its own, so that no issuer can pass on what another has sent.',
  params: z.strictObject({ domain: mailDomainSchema }),
  query: callbackQuery,
  responses: callbackResponses,
  errors: ['UNAVAILABLE'],
}).handledBy((request, deps: ApiDeps) => {
  const { domain } = request.params;
  return finished(request, deps, domain, (authResponse, pending) => {
    const started = { pending, redirectUri: domainCallback(deps.publicUrl(), domain) };
    const { clientAddress } = request;
    return deps.domainSignIn.finish(domain, authResponse, started, clientAddress, browserOf(request));
  });
});

export const oidcRoutes = [start, callback, domainCallbackRoute];

function redirected(location: string, cookie: string) {
  return { status: 302, headers: { Location: location, 'Set-Cookie': cookie } } as const;
}

/** Signs the browser in that an issuer has sent back, or sends it to the sign-in page, which says why not. */
async function finished(
  request: AnyRequest,
  deps: ApiDeps,
  domain: string | undefined,
  finish: (authResponse: URLSearchParams, pending: PendingSignIn) => Promise<SignedIn>,
) {
  const base = deps.publicUrl();
  const pending = pendingIn(request.cookies, base);
  if (pending === undefined || pending.domain !== domain)
    return redirected(`${base}${DASHBOARD}/sign-in?issuer=late`, pendingCookie(base));
  try {
    const authResponse = new URLSearchParams(
      Object.entries(request.query as Record<string, unknown>).flatMap(([name, value]) =>
        [value].flat().map((one) => [name, String(one)]),
      ),
    );
    const issued = await finish(authResponse, pending);
    return redirected(base + pending.returnTo, await replaceSession(issued, request, deps));
  } catch (error) {
    return redirected(signInPage(base, error, deps), pendingCookie(base));
  }
}

/** What the sign-in page is told of an error, by its code. */
const PROBLEMS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'refused',
  NOT_FOUND: 'unknown',
  TOO_MANY_FAILURES: 'often',
  MEMBER_CAPACITY: 'full',
};

/** The sign-in page, which says what went wrong. @throws what is no error of this service. */
function signInPage(base: string, error: unknown, { logger }: Pick<ApiDeps, 'logger'>): string {
  if (!(error instanceof PlatenError)) throw error;
  logger.warn({ err: error }, 'an issuer did not sign anybody in');
  return `${base}${DASHBOARD}/sign-in?issuer=${PROBLEMS[error.code] ?? 'away'}`;
}

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
  domain: z.string().optional(),
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
