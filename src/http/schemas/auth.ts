import { z } from 'zod';
import { emailSchema, PASSWORD_LENGTHS, passwordSchema } from '../../accounts/credentials.ts';
import { nameSchema } from '../../plans/plan.ts';

const email = emailSchema.describe('Upper and lower case make no difference.');

/** The body of `POST /auth/register`. */
export const registrationSchema = z
  .strictObject({
    email,
    password: passwordSchema,
    invitation: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('The code of an invitation, where accounts are made with one only.'),
  })
  .meta({ id: 'Registration' });

/** The body of `POST /auth/login`. What cannot be a password is not told apart from one that is wrong. */
export const credentialsSchema = z
  .strictObject({ email, password: z.string().min(1).max(PASSWORD_LENGTHS.max) })
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
    plan: nameSchema.describe('The name of its plan.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Account' });
