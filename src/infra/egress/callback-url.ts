import { PlatenError } from '../errors/registry.ts';
import type { AddressPolicy } from './address-policy.ts';
import { checkSourceUrl } from './source-url.ts';

/**
 * Checks the address of callbacks before a job is accepted: https, and no forbidden address. What a name resolves to is
 * checked at every connection and not here: the response would reveal which names exist inside.
 *
 * @param field the field of the request that has it.
 * @throws PlatenError INVALID_URL or URL_BLOCKED.
 */
export function checkCallbackUrl(text: string, policy: AddressPolicy, field = 'webhookUrl'): void {
  try {
    if (checkSourceUrl(text, policy).protocol === 'https:') return;
  } catch (error) {
    if (error instanceof PlatenError && error.code === 'URL_BLOCKED') {
      const message = `${field}: leads to an address that may not be reached.`;
      throw new PlatenError('URL_BLOCKED', message, { cause: error });
    }
  }
  throw new PlatenError(
    'INVALID_URL',
    `${field}: must be an absolute https address without a user name or password.`,
  );
}
