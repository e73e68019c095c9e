/** The roles that an owner can give to a member. */
export const MEMBER_ROLES = ['developer', 'billing', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/**
 * What a person is to the account that a session acts for. `none`: a person who has signed in and belongs to no account,
 * and can do nothing but see to the own sign-in.
 */
export const ROLES = ['owner', ...MEMBER_ROLES, 'none'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The rights that routes need, and the roles that have them:
 *
 * - `self`: a person's own sign-in, sessions and accounts;
 * - `look`: plan, use and members of the account, without documents;
 * - `read`: documents, templates, keys without secrets, logs;
 * - `develop`: to make and change those;
 * - `bill`: subscription, purchases and invoices;
 * - `own`: members, the audit log, and the account as a whole.
 */
const RIGHTS = {
  self: ROLES,
  look: ['owner', ...MEMBER_ROLES],
  read: ['owner', 'developer', 'viewer'],
  develop: ['owner', 'developer'],
  bill: ['owner', 'billing'],
  own: ['owner'],
} as const satisfies Record<string, readonly Role[]>;
export type Right = keyof typeof RIGHTS;

/** The roles that have a right. */
export function rolesWith(right: Right): readonly Role[] {
  return RIGHTS[right];
}
