import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/infra/clock.ts';
import { ensureIndexes } from '../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../src/infra/store/connection.ts';
import { AccountStore } from '../../src/tenants/accounts/account-store.ts';
import type { KeyStore } from '../../src/tenants/keys/key-store.ts';
import type { KeyMode } from '../../src/tenants/keys/secret.ts';
import { openTenants } from '../../src/tenants/open-tenants.ts';
import type { PlanName } from '../../src/tenants/plans/plan.ts';
import { BUILT_IN, HeldPlans } from '../../src/tenants/plans/plan-source.ts';

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

export type StoredTenants = Awaited<ReturnType<typeof openStoredTenants>>;

/** The tenants in the database of a running service, for what a test writes or reads past it. */
export async function openStoredTenants(uri: string) {
  const logger = pino({ level: 'silent' });
  const connection = await connectDatabase(uri, logger);
  const tenants = openTenants({
    ...{ connection, clock: systemClock, logger, config: loadConfig('standalone', {}) },
    ...{ plans: new HeldPlans(BUILT_IN), accounts: new AccountStore(connection, systemClock) },
  });
  await ensureIndexes(connection);
  return { ...tenants, connection };
}
