import type { Config } from '../../config/config.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { hasKnownOwner } from '../../tenants/accounts/known-owner.ts';
import type { KeyMode } from '../../tenants/keys/secret.ts';
import type { AccountCaller } from './authenticate-bearer.ts';

type ConfirmationConfig = Pick<Config, 'PLATEN_CONFIRM_ADDRESS'>;

/** Whether live work of an account waits for its address to be confirmed. */
export function needsConfirmation(
  account: AccountCaller['session']['account'],
  { PLATEN_CONFIRM_ADDRESS: confirm }: ConfirmationConfig,
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
  { config }: { readonly config: ConfirmationConfig },
): void {
  if (mode === 'live' && needsConfirmation(session.account, config))
    throw new PlatenError('ADDRESS_NOT_CONFIRMED');
}
