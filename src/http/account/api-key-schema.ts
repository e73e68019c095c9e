import { z } from 'zod';
import { shortList } from '../../render/options/core/short-list.ts';
import { holds } from '../../render/options/core/text-checks.ts';
import { displayNameSchema, lineSchema } from '../../render/options/core/text-schemas.ts';
import { normaliseAllowedIp } from '../../tenants/keys/allowed-ips.ts';
import { KEY_SORTS, KEY_STATUSES } from '../../tenants/keys/key-store.ts';
import { KEY_MODES } from '../../tenants/keys/secret.ts';
import { page, paging } from '../request/paging-schema.ts';

const MAX_ALLOWED_IPS = 100;
const MAX_NAME = 100;

const time = z.iso.datetime();
const mode = z.enum(KEY_MODES);

/** An API key, without its secret. */
export const apiKeySchema = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string().describe('The leading characters of the secret.'),
    mode,
    status: z.enum(KEY_STATUSES),
    createdAt: time,
    lastUsedAt: time.nullable(),
    lastUsedIp: z.string().nullable(),
    lastUsedGeo: z.string().nullable().describe('A country.'),
    revokedAt: time.nullable(),
    createdBy: z
      .string()
      .nullable()
      .describe(
        'The address of the person who made it; null if it is not known, as for keys of the operator.',
      ),
    allowedIps: z
      .array(z.string())
      .describe('Addresses and networks that the key may be used from. An empty list allows all.'),
  })
  .meta({ id: 'ApiKey' });

export const apiKeyListSchema = z
  .strictObject({ ...page, keys: z.array(apiKeySchema) })
  .meta({ id: 'ApiKeyList' });

/** The only response that contains a secret. */
export const newApiKeySchema = z
  .strictObject({
    id: z.uuid(),
    apiKey: z.string().describe('The secret. It is only in this response and cannot be recovered.'),
    prefix: z.string(),
    mode,
  })
  .meta({ id: 'CreatedApiKey' });

export const apiKeyQuerySchema = z.strictObject({
  status: z.enum(KEY_STATUSES).optional().describe('Only keys in this state.'),
  mode: mode.optional().describe('Only keys of this mode.'),
  sort: z.enum(KEY_SORTS).default('created_desc'),
  ...paging,
});

const allowedIp = lineSchema({ max: 64 })
  .check(
    holds(
      (entry) => normaliseAllowedIp(entry) !== undefined,
      'must be an IPv4 or IPv6 address, or a network such as 203.0.113.0/24',
    ),
  )
  .transform((entry) => normaliseAllowedIp(entry) ?? entry);

const name = displayNameSchema(MAX_NAME);
const allowedIps = shortList(allowedIp, MAX_ALLOWED_IPS).transform((entries) => [...new Set(entries)]);

/** The body of `PATCH /user/api-keys/:id`. */
export const apiKeyChangeSchema = z
  .strictObject({
    name: name.optional(),
    allowedIps: allowedIps
      .optional()
      .describe('Addresses and networks that the key may be used from. An empty list allows all.'),
  })
  .refine((change) => change.name !== undefined || change.allowedIps !== undefined, {
    message: 'one of name, allowedIps is required',
  })
  .meta({ id: 'ApiKeyChange', minProperties: 1 });

/** The body of `POST /user/api-keys`. */
export const apiKeyRequestSchema = z
  .strictObject({
    name,
    mode: mode.default('live').describe('Renders of `test` keys carry a watermark and use no quota.'),
    allowedIps: shortList(allowedIp, MAX_ALLOWED_IPS)
      .default([])
      .transform((entries) => [...new Set(entries)])
      .describe('Addresses and networks that the key may be used from. An empty list allows all.'),
  })
  .meta({ id: 'ApiKeyRequest' });
