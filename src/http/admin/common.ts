import { type ZodObject, type ZodType, z } from 'zod';
import type { Admin } from '../../admin/open-admin.ts';
import type { Operator } from '../../config/operators.ts';
import type { DoneBy } from '../../tenants/audit/audit-log.ts';
import type { OpsDeps } from '../api-deps.ts';
import { queryInteger } from '../request/paging-schema.ts';
import { type RouteRequest, type RouteSpec, routesOf } from '../request/route.ts';

/** Dependencies of the routes of the administration. */
export interface AdminDeps extends OpsDeps {
  /** @throws PlatenError UNAVAILABLE while the process starts. */
  readonly admin: () => Admin;
}

export const defineRoute = routesOf({ tags: ['Administration'], auth: 'operator' });

/** The responses are what `src/admin` returns: its types describe them, and docs/administration.md. */
const responses = { 200: { description: 'As it is now.', schema: z.unknown() } } as const;

/**
 * Declares a route of the API of the administration.
 *
 * @param operation with its path below `/admin/api`.
 * @param answer what the response contains, `success` where it returns nothing; `by` is the operator, for the audit log.
 */
export function answering<
  P extends ZodObject | undefined = undefined,
  Q extends ZodObject | undefined = undefined,
  B extends ZodType | undefined = undefined,
>(
  operation: `${'GET' | 'POST'} ${string}`,
  spec: Omit<RouteSpec<typeof responses, P, Q, undefined, B>, 'responses'>,
  answer: (
    request: RouteRequest<'operator', P, Q, undefined, B>,
    admin: Admin,
    by: DoneBy,
  ) => Promise<unknown>,
) {
  const below = operation.replace(' ', ' /admin/api') as typeof operation;
  return defineRoute(below, { ...spec, responses }).handledBy(async (request, { admin }: AdminDeps) => ({
    status: 200,
    json: (await answer(request, admin(), doneBy(request.caller))) ?? { success: true },
  }));
}

/** `cursor` and `limit` of a list. */
export const paging = {
  cursor: z.string().max(4096).optional(),
  limit: queryInteger(1, 200, 50),
};

/** Names the operator for the audit log. */
export function doneBy({ operator, ipAddress }: Operator): DoneBy {
  return { actor: 'operator', operator, ipAddress };
}
