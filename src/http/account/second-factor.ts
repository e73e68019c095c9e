import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { base32 } from '../../tenants/members/totp.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { requireRecentSignIn } from '../request/recent-sign-in.ts';
import { routesOf } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';

const personRoute = routesOf({ tags: ['Authentication'], auth: 'bearer' });

const recoveryCodesSchema = z
  .strictObject({
    recoveryCodes: z
      .array(z.string())
      .describe('Each replaces a code of the app once. They are only in this response.'),
  })
  .meta({ id: 'RecoveryCodes' });

const get = personRoute('GET /auth/second-factor', {
  right: 'self',
  operationId: 'getSecondFactor',
  summary: 'Get the second factor of the person',
  responses: {
    200: {
      description: 'Whether there is one.',
      schema: z
        .strictObject({
          since: z.iso
            .datetime()
            .nullable()
            .describe('Since when sign-ins need a code; null if they do not.'),
          recoveryCodesLeft: z.int().describe('Recovery codes that were not used.'),
        })
        .meta({ id: 'SecondFactor' }),
    },
  },
}).handledBy(async ({ caller }, { secondFactors }: ApiDeps) => {
  const { since, recoveryCodesLeft } = await secondFactors.stateOf(caller.session.person);
  return { status: 200, json: { since: since?.toISOString() ?? null, recoveryCodesLeft } };
});

const begin = personRoute('POST /auth/second-factor', {
  right: 'self',
  operationId: 'beginSecondFactor',
  summary: 'Begin to set up an authenticator app',
  description:
    'Sign-ins need its codes only once POST /auth/second-factor/confirm was sent a first one. In a browser, the password must have been given within the last 5 minutes.',
  responses: {
    201: {
      description: 'The secret for the app, this once.',
      schema: z
        .strictObject({
          secret: z.string().describe('In base32, to be typed into an app.'),
          uri: z.string().describe('The same as an address (`otpauth:`), which apps read from a QR code.'),
        })
        .meta({ id: 'BegunSecondFactor' }),
    },
  },
  errors: ['SECOND_FACTOR_SET', 'PASSWORD_REQUIRED'],
}).handledBy(async ({ caller }, { secondFactors, clock }: ApiDeps) => {
  requireRecentSignIn(caller, clock);
  const { secret, uri } = await secondFactors.begin(caller.session.person);
  return { status: 201, json: { secret: base32(secret), uri } };
});

const confirm = personRoute('POST /auth/second-factor/confirm', {
  right: 'self',
  operationId: 'confirmSecondFactor',
  summary: 'Require codes of the authenticator app from now on',
  description: 'Ends every other session and access token of the person.',
  body: z
    .strictObject({
      code: z
        .string()
        .regex(/^\d{6}$/, 'must be six digits')
        .describe('The code that the app shows.'),
    })
    .meta({ id: 'SecondFactorCode' }),
  responses: { 200: { description: 'The codes for a lost device.', schema: recoveryCodesSchema } },
  errors: ['WRONG_CODE', 'SECOND_FACTOR_SET', 'TOO_MANY_FAILURES'],
}).handledBy(async ({ body, caller, clientAddress }, { secondFactors }: ApiDeps) => {
  return {
    status: 200,
    json: { recoveryCodes: await secondFactors.confirm(caller.session, body.code, clientAddress) },
  };
});

const renew = personRoute('POST /auth/second-factor/recovery-codes', {
  right: 'self',
  operationId: 'renewRecoveryCodes',
  summary: 'Get new recovery codes in place of the former ones',
  responses: { 200: { description: 'The new codes.', schema: recoveryCodesSchema } },
  errors: ['NOT_FOUND', 'PASSWORD_REQUIRED'],
}).handledBy(async ({ caller }, { secondFactors, clock }: ApiDeps) => {
  requireRecentSignIn(caller, clock);
  return {
    status: 200,
    json: { recoveryCodes: await secondFactors.renewRecoveryCodes(caller.session.person) },
  };
});

const remove = personRoute('DELETE /auth/second-factor', {
  right: 'self',
  operationId: 'removeSecondFactor',
  summary: 'Remove the second factor',
  description:
    'Ends every other session and access token of the person. In a browser, the password and a code must have been given within the last 5 minutes.',
  responses: { 200: { description: 'Sign-ins need the password alone.', schema: successSchema } },
  errors: ['NOT_FOUND', 'PASSWORD_REQUIRED'],
}).handledBy(async ({ caller, clientAddress }, { secondFactors, clock }: ApiDeps) => {
  requireRecentSignIn(caller, clock);
  await secondFactors.remove(caller.session, clientAddress);
  return { status: 200, json: { success: true } };
});

const requireOfAll = routesOf({ tags: ['Members'], auth: 'bearer' })('PUT /user/members/second-factor', {
  right: 'own',
  operationId: 'requireSecondFactor',
  summary: 'Require a second factor of everybody in the account',
  description:
    'Takes effect everywhere within a second: sessions and access tokens without one are refused for this account. An issuer that signs people in asks for what it wants, and counts as one. API keys are not affected. The owner must have signed in with a second factor.',
  body: z
    .strictObject({ required: z.boolean().describe('Whether it is required.') })
    .meta({ id: 'SecondFactorRequirement' }),
  responses: { 200: { description: 'Done.', schema: successSchema } },
  errors: ['SECOND_FACTOR_REQUIRED'],
}).handledBy(async ({ body, caller, clientAddress }, { accountService }: ApiDeps) => {
  const { account, secondFactor } = caller.session;
  // Whoever sets it would be shut out.
  if (body.required && !secondFactor) throw new PlatenError('SECOND_FACTOR_REQUIRED');
  await accountService.setRequiresSecondFactor(account, body.required, byPerson(caller, clientAddress));
  return { status: 200, json: { success: true } };
});

export const secondFactorRoutes = [get, begin, confirm, renew, remove, requireOfAll];
