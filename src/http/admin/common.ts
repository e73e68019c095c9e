import { z } from 'zod';
import type { Admin } from '../../admin/admin.ts';
import type { Operator } from '../../config/operators.ts';
import type { DoneBy } from '../../tenants/audit/audit-log.ts';
import type { OpsDeps } from '../api-deps.ts';
import { queryInteger } from '../request/paging-schema.ts';

/** Dependencies of the routes of the administration. */
export interface AdminDeps extends OpsDeps {
  /** @throws PlatenError UNAVAILABLE while the process starts. */
  readonly admin: () => Admin;
}

export const BASE = '/admin/api';
export const tags = ['Administration'];

/** The responses are what `src/admin` returns: its types describe them, and docs/administration.md. */
export const ok = { 200: { description: 'As it is now.', schema: z.unknown() } } as const;

/** `cursor` and `limit` of a list. */
export const paging = {
  cursor: z.string().max(4096).optional(),
  limit: queryInteger(1, 200, 50),
};

/** Names the operator for the audit log. */
export function doneBy({ operator, ipAddress }: Operator): DoneBy {
  return { actor: 'operator', operator, ipAddress };
}
