import { hasKnownOwner } from '../accounts/confirmed-address.ts';
import { PlatenError } from '../errors/registry.ts';
import type { KeyMode } from '../keys/secret.ts';
import type { ApiDeps } from './api-deps.ts';
import type { AccountCaller } from './authenticate-bearer.ts';

/** Whether live work of an account waits for its address to be confirmed. */
export function needsConfirmation(
  account: AccountCaller['session']['account'],
  { PLATEN_CONFIRM_ADDRESS: confirm }: Pick<ApiDeps['config'], 'PLATEN_CONFIRM_ADDRESS'>,
): boolean {
  return confirm === 'required' && !hasKnownOwner(account);
}

/**
 * Requires a confirmed address for live keys and live work, where the operator does: nobody can use somebody else's
 * address for more than watermarked PDFs.
 *
 * @throws PlatenError ADDRESS_NOT_CONFIRMED
 */
export function requireConfirmedAddress(
  { session }: Pick<AccountCaller, 'session'>,
  mode: KeyMode,
  { config }: Pick<ApiDeps, 'config'>,
): void {
  if (mode === 'live' && needsConfirmation(session.account, config))
    throw new PlatenError('ADDRESS_NOT_CONFIRMED');
}
