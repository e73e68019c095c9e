import { MEMBER_ROLES, type MemberRole, ROLE_NAMES } from '../roles.ts';
import { Select } from './field.tsx';

const ROLE_OPTIONS = MEMBER_ROLES.map(([role]) => [role, ROLE_NAMES[role]] as const);

/** The role of a member, with what it allows. */
export function RoleChoice({ role, onChange }: { role: MemberRole; onChange: (role: MemberRole) => void }) {
  return (
    <Select
      label="Role"
      hint={MEMBER_ROLES.find(([name]) => name === role)?.[1]}
      value={role}
      options={ROLE_OPTIONS}
      onChange={(value) => value !== '' && onChange(value)}
    />
  );
}
