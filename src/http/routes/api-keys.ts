import { z } from 'zod';
import { byAccount } from '../../audit/audit-log.ts';
import type { ApiKey, KeyWithSecret } from '../../keys/key-store.ts';
import type { ApiParts } from '../api-parts.ts';
import { defineRoute } from '../route.ts';
import {
  apiKeyListSchema,
  apiKeyQuerySchema,
  apiKeyRequestSchema,
  apiKeySchema,
  newApiKeySchema,
} from '../schemas/api-key.ts';

const tags = ['API keys'];
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const list = defineRoute({
  method: 'get',
  path: '/user/api-keys',
  summary: 'List the API keys of the account',
  tags,
  auth: 'bearer',
  query: apiKeyQuerySchema,
  responses: { 200: { description: 'One page of keys, without their secrets.', schema: apiKeyListSchema } },
}).handledBy(async ({ query, caller }, parts: ApiParts) => {
  const { total, keys } = await parts.keys.list(caller.accountId, query);
  const { limit, offset } = query;
  return { status: 200, json: { total, limit, offset, keys: keys.map(keyBody) } };
});

const create = defineRoute({
  method: 'post',
  path: '/user/api-keys',
  summary: 'Make an API key',
  tags,
  auth: 'bearer',
  body: apiKeyRequestSchema,
  responses: {
    201: {
      description: 'The key, with its secret this once.',
      schema: newApiKeySchema,
      leadsTo: {
        operations: ['POST /user/api-keys/:id/rotate', 'DELETE /user/api-keys/:id'],
        names: { id: { field: 'id' } },
      },
    },
  },
  errors: ['KEY_CAPACITY'],
}).handledBy(async ({ body, caller, clientAddress }, parts: ApiParts) => {
  const { accountId, plan } = caller;
  const by = byAccount(clientAddress);
  const made = await parts.keyService.create(accountId, body, by, plan.maxActiveKeys);
  return { status: 201, json: newKeyBody(made) };
});

const rotate = defineRoute({
  method: 'post',
  path: '/user/api-keys/:id/rotate',
  summary: 'Replace an API key by a new one',
  description:
    'The new key has the name, mode and allowed addresses of the old one, which is revoked. It needs no spare capacity.',
  tags,
  auth: 'bearer',
  params,
  responses: { 200: { description: 'The new key, with its secret this once.', schema: newApiKeySchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller, clientAddress }, parts: ApiParts) => {
  const made = await parts.keyService.rotate(caller.accountId, params.id, byAccount(clientAddress));
  return { status: 200, json: newKeyBody(made) };
});

const revoke = defineRoute({
  method: 'delete',
  path: '/user/api-keys/:id',
  summary: 'Revoke an API key',
  description: 'It stops working everywhere within a second. Doing it again changes nothing.',
  tags,
  auth: 'bearer',
  params,
  responses: { 200: { description: 'The revoked key.', schema: apiKeySchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller, clientAddress }, parts: ApiParts) => {
  const key = await parts.keyService.revoke(caller.accountId, params.id, byAccount(clientAddress));
  return { status: 200, json: keyBody(key) };
});

export const apiKeyRoutes = [list, create, rotate, revoke];

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
