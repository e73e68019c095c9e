import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/infra/clock.ts';
import { ensureIndexes } from '../../src/infra/store/collection-spec.ts';
import type { AccountStore } from '../../src/tenants/accounts/account-store.ts';
import type { Plan } from '../../src/tenants/plans/plan.ts';
import { Ledger } from '../../src/work/jobs/ledger/ledger.ts';
import { openLedgers } from '../../src/work/jobs/ledger/ledger-record.ts';
import { TestClient } from './client.ts';
import { startMongo } from './mongo.ts';
import { type RoleProcess, startRole } from './processes.ts';
import { createTenant, openStoredTenants } from './tenant.ts';

/** Two whole Platens, each with its API, workers and sweeps, on one database. */
export interface Twins {
  readonly roles: readonly [RoleProcess, RoleProcess];
  readonly mongodbUri: string;
  readonly ledger: Ledger;
  readonly accounts: AccountStore;
  /** JSON, read by both; it says what the professional plan has other than by default. */
  readonly plansFile: string;
  /** An account on the professional plan, and a caller of it at each of the two. */
  newTenant(): Promise<{ accountId: string; clients: [TestClient, TestClient] }>;
  stop(): Promise<void>;
}

/**
 * @param plan what the professional plan has other than by default.
 * @param ofFirst environment that only the first has.
 */
export async function openTwins(
  plan: Partial<Plan>,
  environment: Record<string, string> = {},
  ofFirst: Record<string, string> = {},
): Promise<Twins> {
  const { uri } = await startMongo();
  const folder = await mkdtemp(join(tmpdir(), 'platen-twins-'));
  const plansFile = join(folder, 'plans.json');
  await writeFile(plansFile, JSON.stringify({ plans: { professional: plan } }));
  const tenants = await openStoredTenants(uri);
  const { accounts, connection } = tenants;
  const ledger = new Ledger(openLedgers(connection), systemClock);
  await ensureIndexes(connection);
  const common = {
    MONGODB_URI: uri,
    PLATEN_PLANS_FILE: plansFile,
    PLATEN_SECRET: 'a secret for tests, long enough to be one',
    PLATEN_OUTPUT_STORE: 'gridfs',
    PLATEN_WORKER_SLOTS: '2',
    PLATEN_SWEEP_MS: '200',
    PLATEN_RETRY_BASE_MS: '100',
    ...environment,
  };
  const start = async (name: string, own: Record<string, string> = {}): Promise<RoleProcess> => {
    const dataDir = join(folder, name);
    await mkdir(dataDir);
    const role = await startRole('standalone', { ...common, ...own, PLATEN_DATA_DIR: dataDir });
    await role.ready();
    return role;
  };
  const roles = [await start('first', ofFirst), await start('second')] as const;
  return {
    roles,
    mongodbUri: uri,
    ledger,
    accounts,
    plansFile,
    async newTenant() {
      const { accountId, secret } = await createTenant(tenants, 'professional');
      const [first, second] = roles;
      return {
        accountId,
        clients: [new TestClient(first.url, secret), new TestClient(second.url, secret)],
      };
    },
    async stop() {
      await connection.close();
      for (const role of roles) await role.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
