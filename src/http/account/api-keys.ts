import { z } from 'zod';
import { addressesOf } from '../../tenants/accounts/addresses.ts';
import type { ApiKey, KeyWithSecret } from '../../tenants/keys/key-store.ts';
import type { ApiDeps } from '../api-deps.ts';
import { byPerson } from '../request/authenticate-bearer.ts';
import { requireConfirmedAddress } from '../request/confirmed-address.ts';
import { requireRecentSignIn } from '../request/recent-sign-in.ts';
import { routesOf } from '../request/route.ts';
import {
  apiKeyChangeSchema,
  apiKeyListSchema,
  apiKeyQuerySchema,
  apiKeyRequestSchema,
  apiKeySchema,
  newApiKeySchema,
} from './api-key-schema.ts';

const defineRoute = routesOf({ tags: ['API keys'], auth: 'bearer' });
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const list = defineRoute('GET /user/api-keys', {
  right: 'read',
  operationId: 'listApiKeys',
  summary: 'List the API keys of the account',
  query: apiKeyQuerySchema,
  responses: { 200: { description: 'One page of keys, without their secrets.', schema: apiKeyListSchema } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { total, keys } = await deps.keys.list(caller.accountId, query);
  const { limit, offset } = query;
  return { status: 200, json: { total, limit, offset, keys: await keyBodies(keys, deps) } };
});

const create = defineRoute('POST /user/api-keys', {
  right: 'develop',
  operationId: 'createApiKey',
  summary: 'Create an API key',
  body: apiKeyRequestSchema,
  responses: {
    201: {
      description: 'The key, with its secret this once.',
      schema: newApiKeySchema,
      links: {
        operations: ['POST /user/api-keys/:id/rotate', 'DELETE /user/api-keys/:id'],
        names: { id: { field: 'id' } },
      },
    },
  },
  errors: ['KEY_CAPACITY', 'PASSWORD_REQUIRED', 'ADDRESS_NOT_CONFIRMED'],
}).handledBy(async ({ body, caller, clientAddress }, deps: ApiDeps) => {
  requireRecentSignIn(caller, deps.clock);
  requireConfirmedAddress(caller, body.mode, deps);
  const { session, plan } = caller;
  const by = byPerson(caller, clientAddress);
  const made = await deps.keyService.create(session.account, body, by, plan.maxActiveKeys);
  return { status: 201, json: newKeyBody(made) };
});

const rotate = defineRoute('POST /user/api-keys/:id/rotate', {
  right: 'develop',
  operationId: 'rotateApiKey',
  summary: 'Rotate an API key',
  description:
    'A new key with the same name, mode and allowed addresses replaces the old key, which is revoked at once. This works even if the plan allows no more keys.',
  params,
  responses: { 200: { description: 'The new key, with its secret this once.', schema: newApiKeySchema } },
  errors: ['NOT_FOUND', 'PASSWORD_REQUIRED', 'ADDRESS_NOT_CONFIRMED'],
}).handledBy(async ({ params, caller, clientAddress }, deps: ApiDeps) => {
  requireRecentSignIn(caller, deps.clock);
  const key = await deps.keys.find(caller.accountId, params.id);
  if (key !== undefined) requireConfirmedAddress(caller, key.mode, deps);
  const made = await deps.keyService.rotate(caller.accountId, params.id, byPerson(caller, clientAddress));
  return { status: 200, json: newKeyBody(made) };
});

const revoke = defineRoute('DELETE /user/api-keys/:id', {
  right: 'develop',
  operationId: 'revokeApiKey',
  withoutRoom: 'confirmed',
  summary: 'Revoke an API key',
  description: 'The key stops working everywhere within a second. Revoking it again changes nothing.',
  params,
  responses: { 200: { description: 'The revoked key.', schema: apiKeySchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller, clientAddress }, deps: ApiDeps) => {
  const key = await deps.keyService.revoke(caller.accountId, params.id, byPerson(caller, clientAddress));
  return { status: 200, json: await keyBody(key, deps) };
});

const change = defineRoute('PATCH /user/api-keys/:id', {
  right: 'develop',
  operationId: 'updateApiKey',
  summary: 'Change the name or the allowed addresses of an API key',
  description: 'Takes effect everywhere within a second. Fields that are left out keep their values.',
  params,
  body: apiKeyChangeSchema,
  responses: { 200: { description: 'The key as it is now.', schema: apiKeySchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, body, caller, clientAddress }, deps: ApiDeps) => {
  const by = byPerson(caller, clientAddress);
  const key = await deps.keyService.change(caller.accountId, params.id, body, by);
  return { status: 200, json: await keyBody(key, deps) };
});

export const apiKeyRoutes = [list, create, rotate, change, revoke];

async function keyBody(key: ApiKey, deps: ApiDeps) {
  return (await keyBodies([key], deps))[0]!;
}

async function keyBodies(keys: readonly ApiKey[], { accounts }: ApiDeps) {
  const addresses = await addressesOf(
    accounts,
    keys.map(({ createdBy }) => createdBy),
  );
  return keys.map((key) => ({
    id: key._id,
    name: key.name,
    prefix: key.prefix,
    mode: key.mode,
    status: key.status,
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUse?.at.toISOString() ?? null,
    lastUsedIp: key.lastUse?.ip ?? null,
    lastUsedGeo: key.lastUse?.geo ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
    createdBy: addresses.get(key.createdBy) ?? null,
    allowedIps: [...key.allowedIps],
  }));
}

function newKeyBody({ key, secret }: KeyWithSecret) {
  return { id: key._id, apiKey: secret, prefix: key.prefix, mode: key.mode };
}
