import { z } from 'zod';
import { emailSchema, PASSWORD_LENGTHS, passwordSchema } from '../../tenants/accounts/sign-in-credentials.ts';
import { ROLES } from '../../tenants/members/roles.ts';
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

const code = z
  .string()
  .min(1)
  .max(32)
  .optional()
  .describe('The code of the authenticator app, or a recovery code, where the person has set up one.');

/** The body of `POST /auth/login`. A text that cannot be a password is treated like a wrong password. */
export const credentialsSchema = z
  .strictObject({ email, password: z.string().min(1).max(PASSWORD_LENGTHS.max), code })
  .meta({ id: 'Credentials' });

/** Bytes in base64url, without padding. */
export const base64url = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url');

export const credentialIdSchema = base64url(1400).describe('The id of the credential.');

/** What `navigator.credentials.get` has returned. */
export const assertionSchema = z
  .strictObject({
    id: credentialIdSchema,
    clientDataJSON: base64url(4096).describe('What the browser had signed.'),
    authenticatorData: base64url(4096).describe('What the authenticator says of itself.'),
    signature: base64url(8192).describe('The signature.'),
    userHandle: base64url(128).optional().describe('By which the passkey names its person.'),
  })
  .describe('What a passkey has signed, for a challenge of POST /auth/passkeys/challenge.')
  .meta({ id: 'PasskeyAssertion' });

/** The body of `POST /auth/session`. */
export const sessionRequestSchema = z
  .strictObject({
    email: credentialsSchema.shape.email.optional(),
    password: credentialsSchema.shape.password.optional(),
    code,
    passkey: assertionSchema.optional(),
    oneTimeToken: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('The part after `#once=` of the link that standalone prints when it starts.'),
  })
  .refine(
    ({ email, password, oneTimeToken, passkey }) => {
      const given = [email, password].filter((part) => part !== undefined).length;
      if (oneTimeToken !== undefined) return given === 0 && passkey === undefined;
      return given === 2 || (given === 0 && passkey !== undefined);
    },
    { error: 'needs email and password, passkey, or oneTimeToken' },
  )
  .meta({
    id: 'SessionRequest',
    description:
      'Either `email` and `password`, with `code` or `passkey` where the person has a second factor, or `passkey` alone, or `oneTimeToken`.',
  });

export const accessTokenSchema = z
  .strictObject({
    accessToken: z.string().describe('For the header Authorization: Bearer.'),
    tokenType: z.literal('Bearer'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'AccessToken' });

export const accountNameSchema = z
  .string()
  .describe('What the account is called: as its owner has named it, or else by the address of its owner.');

export const accountSchema = z
  .strictObject({
    id: z.uuid().describe('The account that the person acts for.'),
    name: accountNameSchema,
    email: z
      .email()
      .nullable()
      .describe('The address of the person. Null if the issuer confirms no address.'),
    personId: z.uuid().describe('The person who has signed in.'),
    role: z
      .enum(ROLES)
      .describe(
        'What the person may do in the account. `none`: the person belongs to no account, and can only accept an invitation.',
      ),
    ownerEmail: z.email().nullable().describe('The address of the owner of the account.'),
    signInBy: z
      .enum(['password', 'issuer', 'operator'])
      .describe(
        'How the person signs in: with a password of this service, with an OpenID Connect issuer, or, without a password, with a link from the operator, such as the one that standalone prints.',
      ),
    emailConfirmed: z
      .boolean()
      .describe('Whether the person has confirmed the address: by the link of a mail, or through an issuer.'),
    secondFactor: z
      .boolean()
      .describe('Whether the person has signed in with a second factor, or through an issuer.'),
    secondFactorRequired: z.boolean().describe('Whether the account is open only to people who have.'),
    requiredDomain: z
      .string()
      .nullable()
      .describe(
        'The mail domain at whose issuer the person has to sign in to open the account; null if any sign-in will do.',
      ),
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
