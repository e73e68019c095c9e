import { PlatenError } from '../errors/registry.ts';
import type { AddressPolicy } from './address-policy.ts';
import { checkSourceUrl } from './source-url.ts';

/**
 * Checks where callbacks are to go, before anything is promised: https, and no address that may not be reached. What a
 * name leads to is checked at every connection and not here: the answer would tell who asks which names there are inside.
 *
 * @throws PlatenError INVALID_URL or URL_BLOCKED.
 */
export function checkCallbackUrl(text: string, policy: AddressPolicy): void {
  try {
    if (checkSourceUrl(text, policy).protocol === 'https:') return;
  } catch (error) {
    if (error instanceof PlatenError && error.code === 'URL_BLOCKED') {
      const message = 'webhookUrl: leads to an address that may not be reached.';
      throw new PlatenError('URL_BLOCKED', message, { cause: error });
    }
  }
  throw new PlatenError(
    'INVALID_URL',
    'webhookUrl: must be an absolute https address without a user name or password.',
  );
}
