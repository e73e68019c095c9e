import { z } from 'zod';
import { PLAN_NAMES } from '../../plans/plan.ts';

/** RFC 5321, section 4.5.3.1.3, less the brackets. */
const MAX_EMAIL = 254;
/** What stands before the @: section 4.5.3.1.1. */
const MAX_LOCAL_PART = 64;

const email = z
  .email()
  .max(MAX_EMAIL)
  .refine((address) => address.indexOf('@') <= MAX_LOCAL_PART, {
    message: `must have at most ${MAX_LOCAL_PART} characters before the @`,
  })
  .describe('Upper and lower case make no difference.');

/** The body of `POST /auth/register`. */
export const registrationSchema = z
  .strictObject({ email, password: z.string().min(8).max(200) })
  .meta({ id: 'Registration' });

/** The body of `POST /auth/login`. What cannot be a password is not told apart from one that is wrong. */
export const credentialsSchema = z
  .strictObject({ email, password: z.string().min(1).max(200) })
  .meta({ id: 'Credentials' });

export const accessTokenSchema = z
  .strictObject({
    accessToken: z.string().describe('For the header Authorization: Bearer.'),
    tokenType: z.literal('Bearer'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'AccessToken' });

export const accountSchema = z
  .strictObject({
    id: z.uuid(),
    email: z.email().nullable().describe('Null when an issuer vouches for no address.'),
    plan: z.enum(PLAN_NAMES),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Account' });
