import { PlatenError } from '../../infra/errors/registry.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import { poolOf } from '../../tenants/plans/plan.ts';
import type { SealKeys } from '../../work/pools/seal-keys.ts';
import { MAX_ERRORS } from '../request/field-errors.ts';

/**
 * Checks that the workers of a caller seal for it with the keys that options name, as far as that is known: a render finds
 * the rest.
 *
 * @param asked each with the path of the options in the body, for errors.
 * @throws PlatenError VALIDATION, the same whether there is no such key or it is another account's.
 */
export async function checkSealKeys(
  asked: readonly { readonly options: RenderOptions; readonly path: () => string }[],
  { accountId, plan }: Pick<Caller, 'accountId' | 'plan'>,
  { sealKeys }: { readonly sealKeys: Pick<SealKeys, 'mayHave'> },
): Promise<void> {
  const errors: string[] = [];
  const missing = new Map<string, boolean>();
  for (const { options, path } of asked) {
    const keyId = options.seal?.key.keyId;
    if (keyId === undefined) continue;
    if (!missing.has(keyId))
      missing.set(keyId, !(await sealKeys.mayHave(keyId, { accountId, pool: poolOf(plan) })));
    if (!missing.get(keyId)) continue;
    errors.push(`${path()}.seal.key.keyId: the account has no key "${keyId}": its operator assigns keys`);
    if (errors.length === MAX_ERRORS) break;
  }
  if (errors.length > 0) throw new PlatenError('VALIDATION', errors[0], { details: errors });
}
