import { z } from 'zod';
import { addressesOf } from '../../tenants/accounts/addresses.ts';
import { AUDIT_ACTIONS, AUDIT_ACTORS } from '../../tenants/audit/audit-log.ts';
import type { ApiDeps } from '../api-deps.ts';
import { page, pagingByTime } from '../request/paging-schema.ts';
import { routesOf } from '../request/route.ts';

const defineRoute = routesOf({ tags: ['Telemetry'], auth: 'bearer' });

const entry = z
  .strictObject({
    id: z.uuid(),
    action: z.enum(AUDIT_ACTIONS),
    actor: z.enum(AUDIT_ACTORS).describe('`anonymous`: somebody who has not shown to be the account.'),
    personId: z
      .uuid()
      .nullable()
      .describe('The person who did it; null if it is not known, or was nobody of the account.'),
    person: z.string().nullable().describe('The address of that person.'),
    ipAddress: z.string().nullable(),
    targetId: z.string().nullable().describe('The key, template, render or block that it was about.'),
    details: z.record(z.string(), z.string()),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'AuditEntry' });

const auditLog = z.strictObject({ ...page, entries: z.array(entry) }).meta({ id: 'AuditLog' });

const list = defineRoute('GET /user/audit-log', {
  right: 'own',
  operationId: 'listAuditLog',
  summary: 'List what was done to the account',
  description:
    'Sign-ins, keys, templates, changes of the account and purchases of the last 400 days. If something is done more than 500 times in a day (UTC), further entries are left out, and `audit.entries_left_out` says how many.',
  query: z.strictObject({
    action: z.enum(AUDIT_ACTIONS).optional().describe('Only entries of this kind.'),
    ...pagingByTime,
  }),
  responses: { 200: { description: 'One page of entries.', schema: auditLog } },
}).handledBy(async ({ query, caller }, deps: ApiDeps) => {
  const { action, limit, offset, sort } = query;
  const newestFirst = sort === 'created_desc';
  const found = await deps.audit.list(caller.accountId, { action, limit, offset, newestFirst });
  const addresses = await addressesOf(
    deps.accounts,
    found.entries.map(({ personId }) => personId),
  );
  const entries = found.entries.map(({ _id, accountId: _accountId, at, ...rest }) => ({
    id: _id,
    person: addresses.get(rest.personId) ?? null,
    ...rest,
    createdAt: at.toISOString(),
  }));
  return { status: 200, json: { total: found.total, limit, offset, entries } };
});

export const auditLogRoutes = [list];
