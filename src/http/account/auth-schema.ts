import { z } from 'zod';
import { emailSchema, PASSWORD_LENGTHS, passwordSchema } from '../../tenants/accounts/sign-in-credentials.ts';
import { nameSchema } from '../../tenants/plans/plan.ts';

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
      .describe('The code of an invitation, if the service needs one for registration.'),
  })
  .meta({ id: 'Registration' });

/** The body of `POST /auth/login`. A text that cannot be a password is treated like a wrong password. */
export const credentialsSchema = z
  .strictObject({ email, password: z.string().min(1).max(PASSWORD_LENGTHS.max) })
  .meta({ id: 'Credentials' });

/** The body of `POST /auth/session`. */
export const sessionRequestSchema = z
  .strictObject({
    email: credentialsSchema.shape.email.optional(),
    password: credentialsSchema.shape.password.optional(),
    oneTimeToken: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('The part after `#once=` of the link that standalone prints when it starts.'),
  })
  .refine(
    ({ email, password, oneTimeToken }) =>
      (email !== undefined && password !== undefined) !== (oneTimeToken !== undefined),
    { error: 'needs email and password, or oneTimeToken' },
  )
  .meta({
    id: 'SessionRequest',
    description: 'Either `email` and `password`, or `oneTimeToken`.',
  });

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
    email: z.email().nullable().describe('Null if the issuer confirms no address.'),
    signInBy: z
      .enum(['password', 'issuer', 'operator'])
      .describe(
        'How the owner signs in: with a password of this service, with an OpenID Connect issuer, or, without a password, with a link from the operator, such as the one that standalone prints.',
      ),
    emailConfirmed: z
      .boolean()
      .describe('Whether the owner has confirmed the address: by the link of a mail, or through an issuer.'),
    confirmationNeeded: z
      .boolean()
      .describe(
        'Whether live API keys, and live renders without a key, are allowed only once the address is confirmed.',
      ),
    takenOverAt: z.iso
      .datetime()
      .nullable()
      .describe(
        'When the owner of the address took the account over from the person who registered it. API keys and work from before have ended; templates from before are still there. Null if that never happened.',
      ),
    plan: nameSchema.describe('The name of its plan.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Account' });
