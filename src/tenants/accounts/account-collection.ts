import type { CollectionSpec } from '../../infra/store/collection-spec.ts';
import type { PlanName } from '../plans/plan.ts';

/** Accounts that the operator looks for. */
export interface AccountSearch {
  /** How the shown address begins; the other conditions do not count then. */
  readonly email?: string | undefined;
  readonly plan?: PlanName | undefined;
  readonly suspended?: boolean | undefined;
}

export const ACCOUNTS: CollectionSpec = {
  name: 'accounts',
  account: { step: 'account' },
  alsoOf: 'managedBy',
  indexes: [
    { fields: { login: 1 }, unique: true, sparse: true },
    // Unique because they contain the id: the embedded database reads only parts of a unique index
    // (docs/decisions/0178).
    { fields: { email: 1, _id: 1 }, unique: 'embedded' },
    { fields: { createdAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { plan: 1, createdAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { suspendedAt: 1 }, sparse: true },
    { fields: { ownerId: 1 }, sparse: true },
    { fields: { managedBy: 1, signInDomain: 1 }, sparse: true },
  ],
  scans: { '{} sort createdAt, _id': 'one page, for the operator of the service' },
  filtersBy: {
    fields: ['$or', 'suspendedAt', 'sort createdAt, _id'],
    reason: 'a page begins among accounts of one moment, and few accounts are suspended',
  },
};
