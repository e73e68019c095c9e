import { z } from 'zod';
import type { Account } from '../../tenants/accounts/account-store.ts';
import { emailSchema, PASSWORD_LENGTHS, passwordSchema } from '../../tenants/accounts/sign-in-credentials.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import { sessionCookie, sessionTokenIn } from '../request/session-cookie.ts';
import { successSchema } from '../request/success-schema.ts';
import { browserOf } from './sessions.ts';

const tags = ['Authentication'];
const accountRoute = routesOf({ tags, auth: 'bearer' });
const pageRoute = routesOf({ tags, auth: 'page' });
const token = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be the token of a link')
  .describe('The part after `#token=` of the link in the mail.');

const change = accountRoute('POST /auth/password', {
  right: 'self',
  operationId: 'changePassword',
  summary: 'Change the password',
  description:
    'Ends every other session, and all access tokens. The session of this request continues under a new cookie.',
  body: z
    .strictObject({
      currentPassword: z.string().min(1).max(PASSWORD_LENGTHS.max),
      newPassword: passwordSchema,
    })
    .meta({ id: 'PasswordChange' }),
  responses: {
    200: {
      description: 'The new password is valid everywhere within a second.',
      schema: successSchema,
      headers: { 'Set-Cookie': 'The session, where the request came with one.' },
    },
  },
  errors: ['WRONG_PASSWORD', 'TOO_MANY_FAILURES'],
}).handledBy(async (request, { signIn, publicUrl, clock }: ApiDeps) => {
  const { body, caller, clientAddress } = request;
  const { session } = caller;
  const browser = session.signedInAt === undefined ? undefined : browserOf(request);
  const passwords = { current: body.currentPassword, next: body.newPassword };
  const issued = await signIn.changePassword(session, passwords, clientAddress, browser);
  const headers = issued && { 'Set-Cookie': sessionCookie(issued, clock.now(), publicUrl()) };
  return { status: 200, json: { success: true }, ...(headers && { headers }) };
});

const forgot = pageRoute('POST /auth/forgot', {
  operationId: 'requestPasswordReset',
  summary: 'Request a link that sets a new password',
  description:
    'The response is the same whether the address has an account or not. For one address, one network can request three links an hour, and all networks together fifteen. A link works once, for an hour.',
  body: z.strictObject({ email: emailSchema }).meta({ id: 'ForgottenPassword' }),
  responses: { 202: { description: 'A mail is sent if the address has an account.', schema: successSchema } },
  errors: ['TOO_MANY_MAILS'],
}).handledBy(async ({ body, clientAddress }, { recovery }: ApiDeps) => {
  await recovery.forgot(body.email, clientAddress);
  return { status: 202, json: { success: true } };
});

const reset = pageRoute('POST /auth/reset', {
  operationId: 'resetPassword',
  summary: 'Set a new password by the link of a mail',
  description:
    'Ends every session and access token of the account, and every other such link. If nobody has confirmed the address before, somebody else may have registered the account. Then its API keys, the keys that sign its callbacks, and its waiting and running work end as well.',
  body: z.strictObject({ token, password: passwordSchema }).meta({ id: 'PasswordReset' }),
  responses: { 200: { description: 'The new password can be used.', schema: successSchema } },
  errors: ['LINK_INVALID'],
}).handledBy(async ({ body, clientAddress }, { recovery }: ApiDeps) => {
  await recovery.reset(body.token, body.password, clientAddress);
  return { status: 200, json: { success: true } };
});

const sendVerification = accountRoute('POST /auth/email/verification', {
  right: 'self',
  operationId: 'requestEmailVerification',
  summary: 'Request a link that confirms the address of the account',
  description: 'At most three links an hour are sent. A link works once, for a day.',
  responses: { 202: { description: 'A mail is sent.', schema: successSchema } },
  errors: ['TOO_MANY_MAILS'],
}).handledBy(async ({ caller, clientAddress }, { recovery }: ApiDeps) => {
  await recovery.sendVerification(caller.session.person, clientAddress);
  return { status: 202, json: { success: true } };
});

const verify = pageRoute('POST /auth/email/verify', {
  operationId: 'verifyEmail',
  summary: 'Confirm the address of an account by the link of a mail',
  description:
    'Somebody else may have registered the account with this address, so the link alone confirms nothing. Send the request with a session of the account or with its `password`; or send a `newPassword`, which takes the account over and ends everything that was made with it, as POST /auth/reset does. Otherwise the response is CONFIRMATION_UNPROVEN, which says what the account has, and the link can still be used.',
  body: z
    .strictObject({
      token,
      password: z
        .string()
        .min(1)
        .max(PASSWORD_LENGTHS.max)
        .optional()
        .describe('The present password of the account.'),
      newPassword: passwordSchema
        .optional()
        .describe(
          'A new password, for the owner of the address who did not register the account and takes it over.',
        ),
    })
    .refine(({ password, newPassword }) => password === undefined || newPassword === undefined, {
      error: 'takes password or newPassword, not both',
    })
    .meta({ id: 'EmailVerification' }),
  responses: { 200: { description: 'The address is confirmed.', schema: successSchema } },
  errors: ['LINK_INVALID', 'CONFIRMATION_UNPROVEN', 'WRONG_PASSWORD', 'TOO_MANY_FAILURES', 'UNAVAILABLE'],
}).handledBy(async ({ body, cookies, clientAddress }, { recovery, bearer, signIn, publicUrl }: ApiDeps) => {
  const { token, password, newPassword } = body;
  const isOwner = async (account: Account) => {
    if (password !== undefined) return signIn.provesOwner(account, password, clientAddress);
    const session = await bearer.verifySession(sessionTokenIn(cookies, publicUrl()) ?? '');
    return session?.person._id === account._id;
  };
  await recovery.verifyEmail(token, { isOwner, newPassword }, clientAddress);
  return { status: 200, json: { success: true } };
});

export const passwordRoutes = [change, forgot, reset, sendVerification, verify];
