import type { Schemas } from './api.ts';

export type Role = Schemas['Account']['role'];
export type MemberRole = Schemas['TeamInvitation']['role'];

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  developer: 'Developer',
  billing: 'Billing',
  viewer: 'Viewer',
  none: 'No account',
};

/** The roles that an owner can give, with what they allow. */
export const MEMBER_ROLES: readonly (readonly [MemberRole, string])[] = [
  ['developer', 'Renders, templates, API keys and webhooks.'],
  ['billing', 'Plan, payments and invoices; no documents.'],
  ['viewer', 'Sees renders, templates and logs, and changes nothing.'],
];

/** Whether a role may make and change documents, templates, keys and webhooks. */
export function mayDevelop(role: Role): boolean {
  return role === 'owner' || role === 'developer';
}
