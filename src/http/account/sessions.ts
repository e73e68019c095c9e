import { z } from 'zod';
import { printable } from '../../render/options/core/text-schemas.ts';
import {
  type Browser,
  type IssuedToken,
  type OpenSession,
  SESSION_IDLE_MS,
} from '../../tenants/accounts/access-token-store.ts';
import { PASSWORD_LENGTHS } from '../../tenants/accounts/sign-in-credentials.ts';
import type { ApiDeps } from '../api-deps.ts';
import { paging } from '../request/paging-schema.ts';
import { type AnyRequest, routesOf } from '../request/route.ts';
import { noSessionCookie, sessionCookie, sessionTokenIn } from '../request/session-cookie.ts';
import { successSchema } from '../request/success-schema.ts';
import { accountBody } from './auth.ts';
import { sessionRequestSchema } from './auth-schema.ts';
import { authConfigSchema, newSessionSchema, sessionListSchema } from './session-schema.ts';

const tags = ['Authentication'];
const accountRoute = routesOf({ tags, auth: 'bearer' });
const openRoute = routesOf({ tags, auth: 'none' });
const pageRoute = routesOf({ tags, auth: 'page' });
/** Characters of the header User-Agent that are stored. */
const MAX_USER_AGENT = 256;

const config = openRoute('GET /auth/config', {
  operationId: 'getAuthConfig',
  summary: 'Get the available ways to sign in and to register',
  responses: { 200: { description: 'The same for everybody.', schema: authConfigSchema } },
}).handledBy((_request, { config, oidcSignIn }: ApiDeps) => {
  return {
    status: 200,
    json: {
      registration: config.PLATEN_REGISTRATION,
      issuer: oidcSignIn !== undefined,
      passwordLength: { ...PASSWORD_LENGTHS },
    },
  };
});

const begin = pageRoute('POST /auth/session', {
  operationId: 'createSession',
  withoutRoom: 'unconfirmed',
  summary: 'Sign in from a browser',
  description:
    'The session is in a cookie that no script can read. It ends after 12 hours, or after 2 hours without use. It replaces a session that the browser already has. Only pages of the public origin may send this request.',
  body: sessionRequestSchema,
  responses: {
    201: {
      description: 'Signed in.',
      schema: newSessionSchema,
      headers: { 'Set-Cookie': 'The session.' },
    },
  },
  errors: [
    'UNAUTHENTICATED',
    'ACCOUNT_SUSPENDED',
    'LINK_INVALID',
    'CODE_REQUIRED',
    'WRONG_CODE',
    'PASSKEY_REFUSED',
    'TOO_MANY_FAILURES',
    'UNAVAILABLE',
  ],
}).handledBy(async (request, deps: ApiDeps) => {
  const { body, clientAddress } = request;
  const { signIn } = deps;
  const { email, password = '', code, passkey: assertion, oneTimeToken } = body;
  const browser = browserOf(request);
  const passkey = assertion && { assertion, publicUrl: deps.publicUrl() };
  const signedIn = () => {
    if (oneTimeToken !== undefined) return signIn.signInByLink(oneTimeToken, clientAddress, browser);
    if (email === undefined) return signIn.signInByPasskey(passkey!, clientAddress, browser);
    return signIn.signIn({ email, password, code, passkey }, clientAddress, browser);
  };
  const issued = await signedIn();
  const cookie = await replaceSession(issued, request, deps);
  return {
    status: 201,
    json: await newSessionBody(issued, deps),
    headers: { 'Set-Cookie': cookie },
  };
});

const end = accountRoute('DELETE /auth/session', {
  right: 'self',
  operationId: 'endCurrentSession',
  withoutRoom: 'confirmed',
  summary: 'Sign out',
  description: 'Ends the session, or revokes the access token, of this request.',
  responses: {
    200: {
      description: 'The token stops working everywhere within a second.',
      schema: successSchema,
      headers: { 'Set-Cookie': 'Deletes the cookie of the session.' },
    },
  },
}).handledBy(async ({ caller, clientAddress }, { signIn, publicUrl, accountWatch }: ApiDeps) => {
  await signIn.signOut(caller.session, clientAddress);
  accountWatch.notify(caller.session.tokenId);
  return {
    status: 200,
    json: { success: true },
    headers: { 'Set-Cookie': noSessionCookie(publicUrl()) },
  };
});

const list = accountRoute('GET /auth/sessions', {
  right: 'self',
  operationId: 'listSessions',
  summary: 'List the sessions of the person',
  description: 'Newest first. Access tokens of POST /auth/login are not sessions.',
  query: z.strictObject({ ...paging }),
  responses: { 200: { description: 'One page of the sessions that are open.', schema: sessionListSchema } },
}).handledBy(async ({ query, caller }, { tokens }: ApiDeps) => {
  const { total, sessions } = await tokens.sessions(caller.session.person._id, query);
  const shown = sessions.map((session) => sessionBody(session, caller.session.tokenId));
  return { status: 200, json: { total, ...query, sessions: shown } };
});

const endOne = accountRoute('DELETE /auth/sessions/:id', {
  right: 'self',
  operationId: 'endSession',
  withoutRoom: 'confirmed',
  summary: 'End a session of the person',
  params: z.strictObject({ id: z.string().regex(/^[0-9a-f]{64}$/, 'must be the id of a session') }),
  responses: {
    200: { description: 'The token stops working everywhere within a second.', schema: successSchema },
  },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller, clientAddress }, { signIn }: ApiDeps) => {
  await signIn.endSession(caller.session.person, params.id, clientAddress);
  return { status: 200, json: { success: true } };
});

export const sessionRoutes = [config, begin, end, list, endOne];

/** What a browser is told of the session that it has now. */
export async function newSessionBody(
  issued: Parameters<typeof accountBody>[0] & Pick<IssuedToken, 'expiresAt'>,
  deps: Pick<ApiDeps, 'config' | 'accounts'>,
) {
  return {
    account: await accountBody(issued, deps),
    expiresAt: issued.expiresAt.toISOString(),
    idleTimeoutSeconds: SESSION_IDLE_MS / 1000,
  };
}

/** Gives a browser a new session, and ends its old one if there is one. @returns the header Set-Cookie. */
export async function replaceSession(
  issued: IssuedToken,
  { cookies, clientAddress }: Pick<AnyRequest, 'cookies' | 'clientAddress'>,
  { signIn, bearer, publicUrl, clock }: ApiDeps,
): Promise<string> {
  const before = await bearer.verifySession(sessionTokenIn(cookies, publicUrl()) ?? '');
  if (before !== undefined) await signIn.signOut(before, clientAddress);
  return sessionCookie(issued, clock.now(), publicUrl());
}

/** The browser that sent a request. */
export function browserOf({
  clientAddress,
  userAgent,
}: {
  readonly clientAddress: string | undefined;
  readonly userAgent: string | undefined;
}): Browser {
  const shown = userAgent === undefined ? null : printable(userAgent).slice(0, MAX_USER_AGENT);
  return { ipAddress: clientAddress ?? null, userAgent: shown };
}

/** The response fields of a session. Its id is a hash of the token, which does not reveal the token. */
function sessionBody({ _id, createdAt, expiresAt, session }: OpenSession, currentId: string) {
  return {
    id: _id,
    current: _id === currentId,
    createdAt: createdAt.toISOString(),
    lastUsedAt: session.lastUsedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    ipAddress: session.ipAddress,
    userAgent: session.userAgent,
  };
}
