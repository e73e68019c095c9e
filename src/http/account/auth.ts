import { z } from 'zod';
import { displayNameSchema } from '../../render/options/core/text-schemas.ts';
import type { IssuedToken } from '../../tenants/accounts/access-token-store.ts';
import type { Acting } from '../../tenants/accounts/account-access.ts';
import { MAX_ACCOUNT_NAME, shownAs } from '../../tenants/accounts/account-name.ts';
import { requiredDomain } from '../../tenants/accounts/sign-in-domains.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { needsConfirmation } from '../request/confirmed-address.ts';
import { routesOf } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';
import { accessTokenSchema, accountSchema, credentialsSchema, registrationSchema } from './auth-schema.ts';

const tags = ['Authentication'];
const accountRoute = routesOf({ tags, auth: 'bearer' });
const openRoute = routesOf({ tags, auth: 'none' });

const register = openRoute('POST /auth/register', {
  operationId: 'register',
  summary: 'Register an account',
  description:
    'The account is on the free plan, or on the plan of the invitation. If the address already has an account, the response is that of a failed sign-in. The operator of the service may close registration.',
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

const login = openRoute('POST /auth/login', {
  operationId: 'signIn',
  withoutRoom: 'unconfirmed',
  summary: 'Sign in',
  body: credentialsSchema,
  responses: { 200: { description: 'A token, valid for 12 hours.', schema: accessTokenSchema } },
  errors: [
    'UNAUTHENTICATED',
    'ACCOUNT_SUSPENDED',
    'CODE_REQUIRED',
    'WRONG_CODE',
    'TOO_MANY_FAILURES',
    'UNAVAILABLE',
  ],
}).handledBy(async ({ body, clientAddress }, deps: ApiDeps) => {
  return { status: 200, json: tokenBody(await deps.signIn.signIn(body, clientAddress)) };
});

const logout = accountRoute('POST /auth/logout', {
  right: 'self',
  operationId: 'signOut',
  withoutRoom: 'confirmed',
  summary: 'Revoke the access token of this request',
  responses: {
    200: { description: 'The token stops working everywhere within a second.', schema: successSchema },
  },
}).handledBy(async ({ caller, clientAddress }, deps: ApiDeps) => {
  await deps.signIn.signOut(caller.session, clientAddress);
  return { status: 200, json: { success: true } };
});

const me = accountRoute('GET /auth/me', {
  right: 'self',
  operationId: 'getAccount',
  summary: 'Get the signed-in person, and the account that the person acts for',
  responses: { 200: { description: 'The account.', schema: accountSchema } },
}).handledBy(async ({ caller }, deps: ApiDeps) => {
  return { status: 200, json: await accountBody(caller.session, deps) };
});

const rename = accountRoute('PATCH /user/account', {
  right: 'own',
  operationId: 'changeAccount',
  summary: 'Give the account another name',
  description: 'Everybody who belongs to the account sees it, and whoever is invited to it.',
  body: z
    .strictObject({
      name: displayNameSchema(MAX_ACCOUNT_NAME).describe('The name.'),
    })
    .meta({ id: 'AccountChange' }),
  responses: { 200: { description: 'The account as it is now.', schema: accountSchema } },
}).handledBy(async ({ body, caller, clientAddress }, deps: ApiDeps) => {
  const { session } = caller;
  const account = await deps.accountService.rename(
    session.account,
    body.name,
    byPerson(caller, clientAddress),
  );
  return { status: 200, json: await accountBody({ ...session, account }, deps) };
});

export const authRoutes = [register, login, logout, me, rename];

/** The account as the API returns it to a person who acts for it. */
export async function accountBody(
  acting: Acting & { readonly secondFactor: boolean },
  { config, accounts }: Pick<ApiDeps, 'config' | 'accounts'>,
) {
  const { account, person, role, secondFactor } = acting;
  const { _id, takenOverAt, plan, createdAt } = account;
  const { email, login, passwordHash, emailVerifiedAt } = person;
  const ownSignIn = passwordHash === null ? 'operator' : 'password';
  const signInBy = login === undefined ? 'issuer' : ownSignIn;
  const emailConfirmed = email !== null && (signInBy === 'issuer' || emailVerifiedAt !== undefined);
  return {
    id: _id,
    email,
    signInBy,
    emailConfirmed,
    personId: person._id,
    role,
    ...(await shownAs(accounts, account)),
    secondFactor,
    requiredDomain: requiredDomain(acting),
    secondFactorRequired: account.requiresSecondFactor === true,
    confirmationNeeded: needsConfirmation(account, config),
    takenOverAt: takenOverAt?.toISOString() ?? null,
    plan,
    createdAt: createdAt.toISOString(),
  } as const;
}

function tokenBody({ token, expiresAt }: IssuedToken) {
  return { accessToken: token, tokenType: 'Bearer', expiresAt: expiresAt.toISOString() } as const;
}
