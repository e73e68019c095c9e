import { randomUUID } from 'node:crypto';
import type { AccountStore } from '../../src/tenants/accounts/account-store.ts';
import type { KeyStore } from '../../src/tenants/keys/key-store.ts';
import type { KeyMode } from '../../src/tenants/keys/secret.ts';
import type { PlanName } from '../../src/tenants/plans/plan.ts';

/** A new account with an API key. */
export async function createTenant(
  { accounts, keys }: { accounts: AccountStore; keys: KeyStore },
  plan: PlanName,
  { mode = 'live', allowedIps = [] }: { mode?: KeyMode; allowedIps?: string[] } = {},
): Promise<{ accountId: string; apiKeyId: string; secret: string }> {
  const account = await accounts.create(`${randomUUID()}@example.com`, null, plan);
  if (account === undefined) throw new Error('the address was taken');
  const { key, secret } = await keys.create(account._id, { name: 'test', mode, allowedIps });
  return { accountId: account._id, apiKeyId: key._id, secret };
}
