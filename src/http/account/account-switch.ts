import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { shownAs } from '../../tenants/accounts/account-name.ts';
import { ROLES } from '../../tenants/members/roles.ts';
import { nameSchema } from '../../tenants/plans/plan.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import { sessionCookie } from '../request/session-cookie.ts';
import { accountNameSchema } from './auth-schema.ts';
import { newSessionSchema } from './session-schema.ts';
import { newSessionBody } from './sessions.ts';

const defineRoute = routesOf({ tags: ['Authentication'], auth: 'bearer', right: 'self' });

const ownAccountSchema = z
  .strictObject({
    id: z.uuid(),
    name: accountNameSchema,
    ownerEmail: z.email().nullable().describe('The address of the owner of the account.'),
    role: z.enum(ROLES).describe('What the person may do in it.'),
    plan: nameSchema.describe('The name of its plan.'),
    current: z.boolean().describe('Whether this session or token acts for it.'),
  })
  .meta({ id: 'OwnAccount' });

const list = defineRoute('GET /auth/accounts', {
  operationId: 'listOwnAccounts',
  summary: 'List the accounts of the person',
  description:
    'The account that the person has registered, if any, and every account that the person belongs to.',
  right: 'self',
  responses: {
    200: {
      description: 'All of them, the own one first.',
      schema: z
        .strictObject({ accounts: z.array(ownAccountSchema).describe('The accounts.') })
        .meta({ id: 'OwnAccountList' }),
    },
  },
}).handledBy(async ({ caller }, { access, accounts }: ApiDeps) => {
  const found = await access.ofPerson(caller.session.person);
  const shown = found.map(async ({ account, role }) => ({
    id: account._id,
    ...(await shownAs(accounts, account)),
    role,
    plan: account.plan,
    current: account._id === caller.accountId,
  }));
  return { status: 200, json: { accounts: await Promise.all(shown) } };
});

const change = defineRoute('PATCH /auth/session', {
  operationId: 'switchAccount',
  summary: 'Act for another account of the person',
  description:
    'For the session of a browser, which continues under a new cookie; the next sign-in of the person in a browser acts for the same account. An access token of POST /auth/login acts for the account that the person has registered.',
  right: 'self',
  body: z
    .strictObject({ accountId: z.uuid().toLowerCase().describe('One of GET /auth/accounts.') })
    .meta({ id: 'AccountSwitch' }),
  responses: {
    200: {
      description: 'The session acts for this account now.',
      schema: newSessionSchema,
      headers: { 'Set-Cookie': 'The session.' },
    },
  },
  errors: ['SESSION_REQUIRED', 'NOT_FOUND', 'ACCOUNT_SUSPENDED'],
}).handledBy(async ({ body, caller, clientAddress }, deps: ApiDeps) => {
  const { signIn, clock, publicUrl } = deps;
  if (caller.session.signedInAt === undefined)
    throw new PlatenError('SESSION_REQUIRED', 'Only the session of a browser can act for another account.');
  const issued = await signIn.actFor(caller.session, body.accountId, clientAddress);
  return {
    status: 200,
    json: await newSessionBody(issued, deps),
    headers: { 'Set-Cookie': sessionCookie(issued, clock.now(), publicUrl()) },
  };
});

export const accountSwitchRoutes = [list, change];
