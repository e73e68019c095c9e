import type { IssuedToken } from '../../tenants/accounts/access-token-store.ts';
import type { Account } from '../../tenants/accounts/account-store.ts';
import type { ApiDeps } from '../api-deps.ts';
import { needsConfirmation } from '../request/confirmed-address.ts';
import { defineRoute } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';
import { accessTokenSchema, accountSchema, credentialsSchema, registrationSchema } from './auth-schema.ts';

const tags = ['Authentication'];

const register = defineRoute({
  method: 'post',
  path: '/auth/register',
  operationId: 'register',
  summary: 'Register an account',
  description:
    'The account is on the free plan, or on the plan of the invitation. If the address already has an account, the response is that of a failed sign-in. The operator of the service may close registration.',
  tags,
  auth: 'none',
  body: registrationSchema,
  responses: { 201: { description: 'The account is made and signed in.', schema: accessTokenSchema } },
  errors: [
    'UNAUTHENTICATED',
    'REGISTRATION_CLOSED',
    'INVITATION_INVALID',
    'TOO_MANY_REGISTRATIONS',
    'TOO_MANY_FAILURES',
    'UNAVAILABLE',
  ],
}).handledBy(async ({ body, clientAddress }, deps: ApiDeps) => {
  const { account, ...issued } = await deps.signIn.register(body, clientAddress);
  if (needsConfirmation(account, deps.config)) deps.recovery.welcome(account, clientAddress);
  return { status: 201, json: tokenBody(issued) };
});

const login = defineRoute({
  method: 'post',
  path: '/auth/login',
  operationId: 'signIn',
  withoutRoom: 'unconfirmed',
  summary: 'Sign in',
  tags,
  auth: 'none',
  body: credentialsSchema,
  responses: { 200: { description: 'A token, valid for 12 hours.', schema: accessTokenSchema } },
  errors: ['UNAUTHENTICATED', 'ACCOUNT_SUSPENDED', 'TOO_MANY_FAILURES', 'UNAVAILABLE'],
}).handledBy(async ({ body, clientAddress }, deps: ApiDeps) => {
  return { status: 200, json: tokenBody(await deps.signIn.signIn(body, clientAddress)) };
});

const logout = defineRoute({
  method: 'post',
  path: '/auth/logout',
  operationId: 'signOut',
  withoutRoom: 'confirmed',
  summary: 'Revoke the access token of this request',
  tags,
  auth: 'bearer',
  responses: {
    200: { description: 'The token stops working everywhere within a second.', schema: successSchema },
  },
}).handledBy(async ({ caller, clientAddress }, deps: ApiDeps) => {
  await deps.signIn.signOut(caller.session, clientAddress);
  return { status: 200, json: { success: true } };
});

const me = defineRoute({
  method: 'get',
  path: '/auth/me',
  operationId: 'getAccount',
  summary: 'Get the signed-in account',
  tags,
  auth: 'bearer',
  responses: { 200: { description: 'The account.', schema: accountSchema } },
}).handledBy(({ caller }, { config }: ApiDeps) => {
  return { status: 200, json: accountBody(caller.session.account, config) };
});

export const authRoutes = [register, login, logout, me];

/** The account as the API returns it to its owner. */
export function accountBody(account: Account, config: ApiDeps['config']) {
  const { _id, email, login, passwordHash, emailVerifiedAt, takenOverAt, plan, createdAt } = account;
  const ownSignIn = passwordHash === null ? 'operator' : 'password';
  const signInBy = login === undefined ? 'issuer' : ownSignIn;
  const emailConfirmed = email !== null && (signInBy === 'issuer' || emailVerifiedAt !== undefined);
  return {
    id: _id,
    email,
    signInBy,
    emailConfirmed,
    confirmationNeeded: needsConfirmation(account, config),
    takenOverAt: takenOverAt?.toISOString() ?? null,
    plan,
    createdAt: createdAt.toISOString(),
  } as const;
}

function tokenBody({ token, expiresAt }: IssuedToken) {
  return { accessToken: token, tokenType: 'Bearer', expiresAt: expiresAt.toISOString() } as const;
}
