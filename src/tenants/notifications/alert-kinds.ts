import type { AlertKind } from '../mail/mail.ts';
import { type Right, type Role, rolesWith } from '../members/roles.ts';

/** The alerts that people may have by mail. */
export const ALERT_KINDS = ['quota', 'spend', 'failures', 'webhooks'] as const satisfies readonly AlertKind[];

/** The right that an alert needs, since it tells what the right shows; and who gets it without a choice. */
const ALERTS: Readonly<Record<AlertKind, { readonly right: Right; readonly roles: readonly Role[] }>> = {
  quota: { right: 'look', roles: ['owner', 'billing'] },
  spend: { right: 'bill', roles: ['owner', 'billing'] },
  failures: { right: 'read', roles: ['owner', 'developer'] },
  webhooks: { right: 'read', roles: ['owner', 'developer'] },
};

/** What a person has chosen; absent kinds are as the role has them. */
export type Choices = Readonly<Partial<Record<AlertKind, boolean>>>;

/** Whether people of this role may have the alert. */
export function mayHave(role: Role, kind: AlertKind): boolean {
  return rolesWith(ALERTS[kind].right).includes(role);
}

/** Whether a person of this role gets the alert. */
export function wants(role: Role, kind: AlertKind, choices: Choices = {}): boolean {
  return mayHave(role, kind) && (choices[kind] ?? ALERTS[kind].roles.includes(role));
}

export function isAlertKind(name: string | undefined): name is AlertKind {
  return ALERT_KINDS.some((kind) => kind === name);
}
