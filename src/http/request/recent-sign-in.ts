import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { AccountCaller } from './authenticate-bearer.ts';

/** How long after a sign-in the password is not required again, in milliseconds. */
const RECENT_MS = 5 * 60_000;

/**
 * Requires a recent sign-in before a secret is shown, so that an unattended browser does not reveal one: the session
 * must have begun within the last 5 minutes, with the password or at the issuer. Bearer tokens, which browsers do not
 * hold, are exempt. So are accounts without a password that the operator created: they can only sign in by a link,
 * once.
 *
 * @throws PlatenError PASSWORD_REQUIRED
 */
export function requireRecentSignIn({ session }: AccountCaller, clock: Clock): void {
  const { signedInAt, person } = session;
  if (person.login !== undefined && person.passwordHash === null) return;
  if (signedInAt === undefined || clock.now().getTime() - signedInAt.getTime() < RECENT_MS) return;
  throw new PlatenError('PASSWORD_REQUIRED');
}
