import { z } from 'zod';
import { emailSchema, passwordSchema } from '../../tenants/accounts/sign-in-credentials.ts';
import { MEMBER_ROLES, ROLES } from '../../tenants/members/roles.ts';
import { accountNameSchema } from './auth-schema.ts';

const time = z.iso.datetime();
export const memberRoleSchema = z
  .enum(MEMBER_ROLES)
  .describe(
    '`developer`: documents, templates, keys and callbacks. `billing`: plan, purchases and invoices. `viewer`: sees documents, templates and logs, and changes nothing.',
  );

export const memberSchema = z
  .strictObject({
    personId: z.uuid().describe('The person.'),
    email: z.string().nullable().describe('The address with which the person signs in.'),
    role: z.enum(ROLES).describe('What the person may do in the account.'),
    since: time.describe('When the person joined.'),
    current: z.boolean().describe('Whether it is the person of this request.'),
  })
  .meta({ id: 'Member' });

export const invitationSchema = z
  .strictObject({
    id: z.string().describe('Names the invitation. It is not its secret.'),
    email: z.string().describe('Where it was sent.'),
    role: memberRoleSchema,
    createdAt: time.describe('When it was sent.'),
    expiresAt: time.describe('Until when it can be accepted.'),
  })
  .meta({ id: 'TeamInvitation' });

export const memberListSchema = z
  .strictObject({
    total: z.int().describe('The number of members, the owner included.'),
    members: z.array(memberSchema).describe('The owner first.'),
    invitations: z.array(invitationSchema).describe('Those that can be accepted. Only owners see them.'),
  })
  .meta({ id: 'MemberList' });

export const invitationRequestSchema = z
  .strictObject({
    email: emailSchema.describe('Where the invitation is sent.'),
    role: memberRoleSchema,
  })
  .meta({ id: 'TeamInvitationRequest' });

export const invitationToken = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be the token of a link')
  .describe('The part after `#token=` of the link in the mail.');

export const offeredSchema = z
  .strictObject({
    email: z.string().describe('The address that is invited.'),
    role: memberRoleSchema,
    expiresAt: time.describe('Until when it can be accepted.'),
    name: accountNameSchema,
    ownerEmail: z.string().nullable().describe('The address of the owner of the account.'),
    hasSignIn: z.boolean().describe('Whether the address has a password here already.'),
  })
  .meta({ id: 'OfferedInvitation' });

export const acceptanceSchema = z
  .strictObject({
    token: invitationToken,
    password: passwordSchema
      .optional()
      .describe(
        'The password of the invited address, or the first one of an address that has none here. Not needed in a browser that is signed in with the address.',
      ),
    code: z
      .string()
      .min(1)
      .max(32)
      .optional()
      .describe('The code of the authenticator app, or a recovery code, where the person has set up one.'),
  })
  .meta({ id: 'InvitationAcceptance' });
