import { PlatenError } from '../errors/registry.ts';
import type { AddressPolicy } from './address-policy.ts';
import { EgressError } from './errors.ts';
import { targetOf } from './host.ts';
import type { Lookup } from './lookup.ts';
import { resolveChecked } from './resolve.ts';
import { checkSourceUrl } from './source-url.ts';

export interface CallbackUrlOptions {
  readonly policy: AddressPolicy;
  readonly lookup: Lookup;
  /** Longest wait for name servers, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Checks where callbacks are to go, before anything is promised: https, and nothing that may not be reached. A name that
 * cannot be looked up now may exist by then; every connection is checked again.
 *
 * @throws PlatenError INVALID_URL or URL_BLOCKED.
 */
export async function checkCallbackUrl(text: string, options: CallbackUrlOptions): Promise<void> {
  const url = parse(text, options.policy);
  const target = targetOf(url)!;
  try {
    await resolveChecked(target, options);
  } catch (error) {
    if (!(error instanceof EgressError) || error.fault !== 'blocked') return;
    throw new PlatenError('URL_BLOCKED', `webhookUrl: ${error.message}`, { cause: error });
  }
}

function parse(text: string, policy: AddressPolicy): URL {
  try {
    const url = checkSourceUrl(text, policy);
    if (url.protocol === 'https:') return url;
  } catch (error) {
    if (!(error instanceof PlatenError) || error.code !== 'URL_BLOCKED') throw invalid();
    throw new PlatenError('URL_BLOCKED', 'webhookUrl: leads to an address that may not be reached.', {
      cause: error,
    });
  }
  throw invalid();
}

function invalid(): PlatenError {
  return new PlatenError(
    'INVALID_URL',
    'webhookUrl: must be an absolute https address without a user name or password.',
  );
}
