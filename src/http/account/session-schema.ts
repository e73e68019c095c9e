import { z } from 'zod';
import { REGISTRATION_MODES } from '../../tenants/accounts/registration.ts';
import { page } from '../request/paging-schema.ts';
import { accountSchema } from './auth-schema.ts';

/** The response of `GET /auth/config`. */
export const authConfigSchema = z
  .strictObject({
    registration: z.enum(REGISTRATION_MODES).describe('Who may make an account by registering.'),
    issuer: z.boolean().describe('Whether there is an OpenID Connect issuer, for GET /auth/oidc/start.'),
    passwordLength: z.strictObject({ min: z.int(), max: z.int() }).describe('Characters of a password.'),
  })
  .meta({ id: 'AuthConfig' });

/** The response of `POST /auth/session`. */
export const newSessionSchema = z
  .strictObject({
    account: accountSchema,
    expiresAt: z.iso.datetime().describe('When the session ends, even if it is in use.'),
    idleTimeoutSeconds: z.int().describe('The session ends earlier if it is not used for this many seconds.'),
  })
  .meta({ id: 'CreatedSession' });

const session = z
  .strictObject({
    id: z.string(),
    current: z.boolean().describe('Whether this request comes with it.'),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().describe('When it was last used, to the minute.'),
    expiresAt: z.iso.datetime(),
    ipAddress: z.string().nullable().describe('Where it was begun from.'),
    userAgent: z.string().nullable().describe('The User-Agent of the browser; its first 256 characters.'),
  })
  .meta({ id: 'Session' });

export const sessionListSchema = z
  .strictObject({ ...page, sessions: z.array(session) })
  .meta({ id: 'SessionList' });
