import { z } from 'zod';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import { sessionTokenIn } from '../request/session-cookie.ts';
import { acceptanceSchema, invitationToken, offeredSchema } from './member-schema.ts';
import { newSessionSchema } from './session-schema.ts';
import { browserOf, newSessionBody, replaceSession } from './sessions.ts';

const defineRoute = routesOf({ tags: ['Members'], auth: 'page' });

const read = defineRoute('POST /auth/invitations', {
  operationId: 'readInvitation',
  withoutRoom: 'unconfirmed',
  summary: 'See what an invitation offers',
  description: 'For the page that the link of the mail opens. It does not use the invitation up.',
  body: z.strictObject({ token: invitationToken }).meta({ id: 'InvitationToken' }),
  responses: { 200: { description: 'The invitation.', schema: offeredSchema } },
  errors: ['INVITATION_INVALID', 'ACCOUNT_SUSPENDED'],
}).handledBy(async ({ body }, { team }: ApiDeps) => {
  const { expiresAt, ...offered } = await team.readInvitation(body.token);
  return { status: 200, json: { ...offered, expiresAt: expiresAt.toISOString() } };
});

const accept = defineRoute('POST /auth/invitations/accept', {
  operationId: 'acceptInvitation',
  summary: 'Accept an invitation',
  description:
    'By a browser that is signed in with the invited address, or with the password of that address. An address without a sign-in here gets one with this password, whatever the registration of the service allows. The session acts for the account then.',
  body: acceptanceSchema,
  responses: {
    201: {
      description: 'The person is a member, and signed in.',
      schema: newSessionSchema,
      headers: { 'Set-Cookie': 'The session.' },
    },
  },
  errors: [
    'INVITATION_INVALID',
    'INVITATION_UNPROVEN',
    'UNAUTHENTICATED',
    'ACCOUNT_SUSPENDED',
    'CODE_REQUIRED',
    'WRONG_CODE',
    'TOO_MANY_FAILURES',
    'UNAVAILABLE',
  ],
}).handledBy(async (request, deps: ApiDeps) => {
  const { body, cookies, clientAddress } = request;
  const { team, bearer, publicUrl } = deps;
  const session = await bearer.verifySession(sessionTokenIn(cookies, publicUrl()) ?? '');
  const proof = { session, password: body.password, code: body.code };
  const issued = await team.accept(body.token, proof, clientAddress, browserOf(request));
  return {
    status: 201,
    json: await newSessionBody(issued, deps),
    headers: { 'Set-Cookie': await replaceSession(issued, request, deps) },
  };
});

export const invitationRoutes = [read, accept];
