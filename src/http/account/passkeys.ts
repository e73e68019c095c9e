import { z } from 'zod';
import { displayNameSchema } from '../../render/options/core/text-schemas.ts';
import { MAX_PASSKEYS, type Passkey } from '../../tenants/members/passkey-store.ts';
import type { ApiDeps } from '../api-deps.ts';
import { requireRecentSignIn } from '../request/recent-sign-in.ts';
import { routesOf } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';
import { base64url, credentialIdSchema } from './auth-schema.ts';

const tags = ['Authentication'];
const personRoute = routesOf({ tags, auth: 'bearer' });
const pageRoute = routesOf({ tags, auth: 'page' });
/** Characters of a passkey's name. */
const MAX_NAME = 100;
const params = z.strictObject({ id: z.string().regex(/^[0-9a-f]{64}$/, 'must be the id of a passkey') });
const name = displayNameSchema(MAX_NAME).describe('By which the person tells it from others.');
const time = z.iso.datetime();

const passkeySchema = z
  .strictObject({
    id: z.string().describe('Names the passkey here. It is not the id of the credential.'),
    name: z.string().describe('By which the person tells it from others.'),
    createdAt: time.describe('When it was made.'),
    lastUsedAt: time.nullable().describe('When it last signed the person in; null if it never did.'),
  })
  .meta({ id: 'Passkey' });

const challenge = pageRoute('POST /auth/passkeys/challenge', {
  operationId: 'createPasskeyChallenge',
  withoutRoom: 'unconfirmed',
  summary: 'Begin to sign in with a passkey',
  description:
    'The same for everybody. What the passkey signs is sent to POST /auth/session within five minutes, alone or with address and password. Each challenge works once.',
  responses: {
    201: {
      description: 'For `navigator.credentials.get`, as PublicKeyCredentialRequestOptionsJSON.',
      schema: z
        .strictObject({
          challenge: z.string().describe('What is signed, in base64url.'),
          rpId: z.string().describe('The name that passkeys are made for: the host of the public address.'),
          timeout: z.int().describe('Milliseconds in which it can be signed.'),
          userVerification: z.literal('required').describe('The device has to make sure who uses it.'),
        })
        .meta({ id: 'PasskeyChallenge' }),
    },
  },
  errors: ['TOO_MANY_FAILURES', 'UNAVAILABLE'],
}).handledBy(async ({ clientAddress }, { passkeys, publicUrl }: ApiDeps) => {
  return { status: 201, json: await passkeys.challenge(publicUrl(), clientAddress) };
});

const list = personRoute('GET /auth/passkeys', {
  right: 'self',
  operationId: 'listPasskeys',
  summary: 'List the passkeys of the person',
  responses: {
    200: {
      description: 'All of them, the oldest first.',
      schema: z
        .strictObject({ passkeys: z.array(passkeySchema).describe('The passkeys.') })
        .meta({ id: 'PasskeyList' }),
    },
  },
}).handledBy(async ({ caller }, { passkeys }: ApiDeps) => {
  const found = await passkeys.list(caller.session.person);
  return { status: 200, json: { passkeys: found.map(passkeyBody) } };
});

const begin = personRoute('POST /auth/passkeys/registration', {
  right: 'self',
  operationId: 'beginPasskey',
  summary: 'Begin to make a passkey',
  description:
    'In a browser, the person must have signed in within the last 5 minutes. People who sign in through an issuer have their passkeys there.',
  responses: {
    201: {
      description: 'For `navigator.credentials.create`.',
      schema: z
        .strictObject({
          options: z
            .looseObject({ challenge: z.string().describe('What the authenticator signs, in base64url.') })
            .describe('PublicKeyCredentialCreationOptionsJSON, as WebAuthn has it.'),
        })
        .meta({ id: 'BegunPasskey' }),
    },
  },
  errors: ['PASSWORD_REQUIRED', 'PASSKEY_CAPACITY', 'TOO_MANY_FAILURES'],
}).handledBy(async ({ caller }, { passkeys, publicUrl, clock }: ApiDeps) => {
  requireRecentSignIn(caller, clock);
  const options = await passkeys.begin(caller.session, publicUrl());
  return { status: 201, json: { options: { ...options } } };
});

const add = personRoute('POST /auth/passkeys', {
  right: 'self',
  operationId: 'addPasskey',
  summary: 'Keep a passkey that the browser has made',
  description: `It signs the person in from then on, and is a second factor besides the password. The first factor of a person ends every other session and access token. A person may have ${MAX_PASSKEYS} passkeys.`,
  body: z
    .strictObject({
      name,
      credential: z
        .strictObject({
          id: credentialIdSchema,
          clientDataJSON: base64url(4096).describe('What the browser had signed.'),
          attestationObject: base64url(16_384).describe(
            'The public key, with what the authenticator says of it.',
          ),
        })
        .describe('What `navigator.credentials.create` has returned.')
        .meta({ id: 'PasskeyCredential' }),
    })
    .meta({ id: 'PasskeyRegistration' }),
  responses: {
    201: {
      description: 'The passkey.',
      schema: z
        .strictObject({
          passkey: passkeySchema,
          recoveryCodes: z
            .array(z.string())
            .nullable()
            .describe(
              'With the first factor of a person: each replaces the passkey once besides the password. They are only in this response.',
            ),
        })
        .meta({ id: 'AddedPasskey' }),
    },
  },
  errors: ['PASSKEY_REFUSED', 'PASSKEY_CAPACITY'],
}).handledBy(async ({ body, caller, clientAddress }, { passkeys, publicUrl }: ApiDeps) => {
  const made = { ...body, publicUrl: publicUrl() };
  const { passkey, recoveryCodes } = await passkeys.add(caller.session, made, clientAddress);
  return { status: 201, json: { passkey: passkeyBody(passkey), recoveryCodes } };
});

const change = personRoute('PATCH /auth/passkeys/:id', {
  right: 'self',
  operationId: 'changePasskey',
  summary: 'Give a passkey another name',
  params,
  body: z.strictObject({ name }).meta({ id: 'PasskeyChange' }),
  responses: { 200: { description: 'The passkey as it is now.', schema: passkeySchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, body, caller }, { passkeys }: ApiDeps) => {
  const passkey = await passkeys.rename(caller.session.person, params.id, body.name);
  return { status: 200, json: passkeyBody(passkey) };
});

const remove = personRoute('DELETE /auth/passkeys/:id', {
  right: 'self',
  operationId: 'removePasskey',
  summary: 'Remove a passkey',
  description:
    'It does not sign in any more, and every other session and access token of the person ends. In a browser, the person must have signed in within the last 5 minutes.',
  params,
  responses: { 200: { description: 'The passkey is not known here any more.', schema: successSchema } },
  errors: ['NOT_FOUND', 'PASSWORD_REQUIRED'],
}).handledBy(async ({ params, caller, clientAddress }, { passkeys, clock }: ApiDeps) => {
  requireRecentSignIn(caller, clock);
  await passkeys.remove(caller.session, params.id, clientAddress);
  return { status: 200, json: { success: true } };
});

export const passkeyRoutes = [challenge, list, begin, add, change, remove];

function passkeyBody({ _id, name, createdAt, lastUsedAt }: Passkey) {
  return {
    id: _id,
    name,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}
