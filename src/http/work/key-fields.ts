import { NO_KEY } from '../../tenants/accounts/caller.ts';
import type { ApiDeps } from '../api-deps.ts';

/** A job or batch, with the key that requested it, and whether that was a test key. */
interface Submitted {
  readonly apiKeyId: string;
  readonly test: boolean;
}

/** The response fields that name the key of each job or batch; null when it was requested without a key. */
export async function keyFieldsOf<T extends Submitted>(
  submitted: readonly T[],
  { keys }: Pick<ApiDeps, 'keys'>,
): Promise<(one: T) => { mode: 'live' | 'test'; apiKeyId: string | null; apiKeyPrefix: string | null }> {
  const ids = new Set(submitted.map(({ apiKeyId }) => apiKeyId).filter((id) => id !== NO_KEY.apiKeyId));
  const prefixes = await keys.prefixes([...ids]);
  return ({ apiKeyId, test }) => ({
    mode: test ? 'test' : 'live',
    apiKeyId: apiKeyId === NO_KEY.apiKeyId ? null : apiKeyId,
    apiKeyPrefix: prefixes.get(apiKeyId) ?? null,
  });
}
