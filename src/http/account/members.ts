import { z } from 'zod';
import type { TeamMember } from '../../tenants/accounts/team.ts';
import type { TeamInvitation } from '../../tenants/accounts/team-invitation-store.ts';
import type { ApiDeps } from '../api-deps.ts';
import { type AccountCaller, byPerson } from '../request/authenticate-bearer.ts';
import { requireRecentSignIn } from '../request/recent-sign-in.ts';
import { routesOf } from '../request/route.ts';
import { successSchema } from '../request/success-schema.ts';
import {
  invitationRequestSchema,
  invitationSchema,
  memberListSchema,
  memberRoleSchema,
  memberSchema,
} from './member-schema.ts';

const defineRoute = routesOf({ tags: ['Members'], auth: 'bearer' });
const params = z.strictObject({ id: z.uuid().toLowerCase() });

const list = defineRoute('GET /user/members', {
  right: 'look',
  operationId: 'listMembers',
  summary: 'List the people of the account',
  responses: { 200: { description: 'All of them, and open invitations.', schema: memberListSchema } },
}).handledBy(async ({ caller }, { team }: ApiDeps) => {
  const { account, role } = caller.session;
  const [members, invitations] = await Promise.all([
    team.members(account),
    role === 'owner' ? team.openInvitations(account) : [],
  ]);
  return {
    status: 200,
    json: {
      total: members.length,
      members: members.map((member) => memberBody(member, caller)),
      invitations: invitations.map(invitationBody),
    },
  };
});

const invite = defineRoute('POST /user/members/invitations', {
  right: 'own',
  operationId: 'inviteMember',
  summary: 'Invite somebody to the account',
  description:
    'Mails a link that works once, for seven days. Another invitation to the same address replaces it. An account may have 100 members and open invitations.',
  body: invitationRequestSchema,
  responses: { 201: { description: 'A mail is sent.', schema: invitationSchema } },
  errors: ['ADDRESS_NOT_CONFIRMED', 'ALREADY_MEMBER', 'MEMBER_CAPACITY', 'TOO_MANY_MAILS'],
}).handledBy(async ({ body, caller, clientAddress }, { team }: ApiDeps) => {
  const invitation = await team.invite(caller.session, body, clientAddress);
  return { status: 201, json: invitationBody(invitation) };
});

const revokeInvitation = defineRoute('DELETE /user/members/invitations/:id', {
  right: 'own',
  operationId: 'revokeInvitation',
  withoutRoom: 'confirmed',
  summary: 'Revoke an invitation',
  params: z.strictObject({ id: z.string().regex(/^[0-9a-f]{64}$/, 'must be the id of an invitation') }),
  responses: { 200: { description: 'Its link does nothing any more.', schema: successSchema } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, caller, clientAddress }, { team }: ApiDeps) => {
  await team.revokeInvitation(caller.session.account, params.id, byPerson(caller, clientAddress));
  return { status: 200, json: { success: true } };
});

const change = defineRoute('PATCH /user/members/:id', {
  right: 'own',
  operationId: 'changeMember',
  summary: 'Give a member another role',
  description: 'In force everywhere within a second, also for sessions that are open.',
  params,
  body: z.strictObject({ role: memberRoleSchema }).meta({ id: 'MemberChange' }),
  responses: { 200: { description: 'The member as it is now.', schema: memberSchema } },
  errors: ['NOT_FOUND', 'OWNER_REQUIRED'],
}).handledBy(async ({ params, body, caller, clientAddress }, { team }: ApiDeps) => {
  const by = byPerson(caller, clientAddress);
  const member = await team.setRole(caller.session.account, params.id, body.role, by);
  return { status: 200, json: memberBody(member, caller) };
});

const remove = defineRoute('DELETE /user/members/:id', {
  right: 'own',
  operationId: 'removeMember',
  withoutRoom: 'confirmed',
  summary: 'Remove a member',
  description:
    'The sessions in which the person acts for the account end everywhere within a second. API keys that the person has made go on working: they are the account’s.',
  params,
  responses: { 200: { description: 'The person is no member any more.', schema: successSchema } },
  errors: ['NOT_FOUND', 'OWNER_REQUIRED'],
}).handledBy(async ({ params, caller, clientAddress }, { team }: ApiDeps) => {
  await team.remove(caller.session.account, params.id, byPerson(caller, clientAddress));
  return { status: 200, json: { success: true } };
});

const leave = defineRoute('DELETE /user/membership', {
  right: 'look',
  operationId: 'leaveAccount',
  withoutRoom: 'confirmed',
  summary: 'Leave the account',
  description: 'Ends the session of this request. The owner has to transfer the ownership first.',
  responses: { 200: { description: 'The person is no member any more.', schema: successSchema } },
  errors: ['NOT_FOUND', 'OWNER_REQUIRED'],
}).handledBy(async ({ caller, clientAddress }, { team }: ApiDeps) => {
  const { account, person } = caller.session;
  await team.remove(account, person._id, byPerson(caller, clientAddress));
  return { status: 200, json: { success: true } };
});

const transfer = defineRoute('POST /user/members/:id/transfer', {
  right: 'own',
  operationId: 'transferOwnership',
  summary: 'Transfer the ownership to a member',
  description:
    'The account has one owner. The present one stays in it as a developer, and only the new one can give it back. Both get a mail. In a browser, the password must have been given within the last 5 minutes.',
  params,
  responses: { 200: { description: 'The account has another owner.', schema: successSchema } },
  errors: ['NOT_FOUND', 'OWNER_REQUIRED', 'ADDRESS_NOT_CONFIRMED', 'ACCOUNT_SUSPENDED', 'PASSWORD_REQUIRED'],
}).handledBy(async ({ params, caller, clientAddress }, { team, clock }: ApiDeps) => {
  requireRecentSignIn(caller, clock);
  await team.transfer(caller.session, params.id, byPerson(caller, clientAddress));
  return { status: 200, json: { success: true } };
});

export const memberRoutes = [list, invite, revokeInvitation, change, remove, leave, transfer];

function memberBody({ person, role, since }: TeamMember, { session }: AccountCaller) {
  return {
    personId: person._id,
    email: person.email,
    role,
    since: since.toISOString(),
    current: person._id === session.person._id,
  };
}

function invitationBody({ _id, email, role, createdAt, expiresAt }: TeamInvitation) {
  return {
    id: _id,
    email,
    role,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}
