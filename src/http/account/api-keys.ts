import { z } from 'zod';
import { byAccount } from '../../tenants/audit/audit-log.ts';
import type { ApiKey, KeyWithSecret } from '../../tenants/keys/key-store.ts';
import type { ApiDeps } from '../api-deps.ts';
import { requireConfirmedAddress } from '../request/confirmed-address.ts';
import { requireRecentSignIn } from '../request/recent-sign-in.ts';
import { defineRoute } from '../request/route.ts';
import {
  apiKeyChangeSchema,
  apiKeyListSchema,
  apiKeyQuerySchema,
  apiKeyRequestSchema,
  apiKeySchema,
  newApiKeySchema,
} from './api-key-schema.ts';

const tags = ['API keys'];
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const list = defineRoute({
  method: 'get',
  path: '/user/api-keys',
  operationId: 'listApiKeys',
  summary: 'List the API keys of the account',
  tags,
  auth: 'bearer',
  query: apiKeyQuerySchema,
  responses: { 200: { description: 'One page of keys, without their secrets.', schema: apiKeyListSchema } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { total, keys } = await deps.keys.list(caller.accountId, query);
  const { limit, offset } = query;
  return { status: 200, json: { total, limit, offset, keys: keys.map(keyBody) } };
});

const create = defineRoute({
  method: 'post',
  path: '/user/api-keys',
  operationId: 'createApiKey',
  summary: 'Create an API key',
  tags,
  auth: 'bearer',
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
  const by = byAccount(clientAddress);
  const made = await deps.keyService.create(session.account, body, by, plan.maxActiveKeys);
  return { status: 201, json: newKeyBody(made) };
});

const rotate = defineRoute({
  method: 'post',
  path: '/user/api-keys/:id/rotate',
  operationId: 'rotateApiKey',
  summary: 'Rotate an API key',
  description:
    'A new key with the same name, mode and allowed addresses replaces the old key, which is revoked at once. This works even if the plan allows no more keys.',
  tags,
  auth: 'bearer',
  params,
  responses: { 200: { description: 'The new key, with its secret this once.', schema: newApiKeySchema } },
  errors: ['NOT_FOUND', 'PASSWORD_REQUIRED', 'ADDRESS_NOT_CONFIRMED'],
}).handledBy(async ({ params, caller, clientAddress }, deps: ApiDeps) => {
  requireRecentSignIn(caller, deps.clock);
  const key = await deps.keys.find(caller.accountId, params.id);
  if (key !== undefined) requireConfirmedAddress(caller, key.mode, deps);
  const made = await deps.keyService.rotate(caller.accountId, params.id, byAccount(clientAddress));
  return { status: 200, json: newKeyBody(made) };
});

const revoke = defineRoute({
  method: 'delete',
  path: '/user/api-keys/:id',
  operationId: 'revokeApiKey',
  withoutRoom: 'confirmed',
  summary: 'Revoke an API key',
  description: 'The key stops working everywhere within a second. Revoking it again changes nothing.',
  tags,
  auth: 'bearer',
  params,
  responses: { 200: { description: 'The revoked key.', schema: apiKeySchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller, clientAddress }, deps: ApiDeps) => {
  const key = await deps.keyService.revoke(caller.accountId, params.id, byAccount(clientAddress));
  return { status: 200, json: keyBody(key) };
});

const change = defineRoute({
  method: 'patch',
  path: '/user/api-keys/:id',
  operationId: 'updateApiKey',
  summary: 'Change the name or the allowed addresses of an API key',
  description: 'Takes effect everywhere within a second. Fields that are left out keep their values.',
  tags,
  auth: 'bearer',
  params,
  body: apiKeyChangeSchema,
  responses: { 200: { description: 'The key as it is now.', schema: apiKeySchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, body, caller, clientAddress }, deps: ApiDeps) => {
  const by = byAccount(clientAddress);
  const key = await deps.keyService.change(caller.accountId, params.id, body, by);
  return { status: 200, json: keyBody(key) };
});

export const apiKeyRoutes = [list, create, rotate, change, revoke];

function keyBody(key: ApiKey) {
  return {
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
    allowedIps: [...key.allowedIps],
  };
}

function newKeyBody({ key, secret }: KeyWithSecret) {
  return { id: key._id, apiKey: secret, prefix: key.prefix, mode: key.mode };
}
