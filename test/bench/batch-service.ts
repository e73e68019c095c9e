import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AccountClient, signUp } from '../support/account-client.ts';
import { TestClient } from '../support/client.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { PRINT } from './documents.ts';

const MIB = 1024 * 1024;
const MONTHLY_RENDERS = 1_000_000;

/** Standalone with the embedded database, whose plan lets batches of any size in. */
export interface BatchService {
  /** The process that runs at present. */
  readonly role: RoleProcess;
  /** Ends it and starts it again over the same data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** An account that orders batches of one template. */
export interface Tenant {
  /** Its owner, at the process that ran first. */
  readonly owner: AccountClient;
  readonly key: string;
  readonly templateId: string;
}

export interface BatchState {
  readonly finishedAt: string | null;
  readonly progress: { readonly completed: number; readonly failed: number; readonly pending: number };
}

/** @param maxBatchItems of the plan; it is as business has it otherwise, but for what would end a benchmark. */
export async function openBatchService(
  maxBatchItems: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<BatchService> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-bench-batches-'));
  const plans = join(folder, 'plans.json');
  const plan = {
    monthlyRenders: MONTHLY_RENDERS,
    requestsPerMinute: 1_000_000,
    concurrentRenders: 20,
    maxWaitingJobs: 1_000_000,
    maxBatchItems,
    maxInputSizeBytes: 15 * MIB,
    maxOutputSizeBytes: 15 * MIB,
    maxStoredBytes: 1024 ** 4,
  };
  // The plan of whoever signs up.
  await writeFile(plans, JSON.stringify({ plans: { free: plan } }));
  const start = async () => {
    const role = await startRole('standalone', {
      PLATEN_DATA_DIR: join(folder, 'data'),
      PLATEN_PLANS_FILE: plans,
      NODE_ENV: 'production',
      ...settings,
    });
    await role.ready();
    return role;
  };
  let role = await start();
  return {
    get role() {
      return role;
    },
    async restart() {
      await role.end();
      role = await start();
    },
    async close() {
      await role.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** @param html of the template, to which the number of the item is added. */
export async function newTenant({ role }: BatchService, name: string, html: string): Promise<Tenant> {
  const owner = await signUp(role.url);
  const { apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name, mode: 'live' });
  const content = `${html}<!-- {{ number }} -->`;
  const { id } = await owner.expect(201, 'POST', '/user/templates', { name, content, sampleData: '{}' });
  return { owner, key: apiKey, templateId: id };
}

/** An account's client, at the process that runs at present. */
export function clientOf({ role }: BatchService, { key }: Tenant): TestClient {
  return new TestClient(role.url, key);
}

/** The renders that an account has been charged for. */
export async function chargedTo({ role }: BatchService, { owner }: Tenant): Promise<number> {
  const { remaining } = await owner.at(role.url).expect(200, 'GET', '/user/usage');
  return MONTHLY_RENDERS - remaining;
}

/** Lets a batch in. @returns its id. */
export async function submitBatch(service: BatchService, tenant: Tenant, count: number): Promise<string> {
  const items = Array.from({ length: count }, (_, i) => ({
    id: `item-${i}`,
    templateId: tenant.templateId,
    data: { number: i },
    options: PRINT,
  }));
  const response = await clientOf(service, tenant).call('POST', '/v1/pdf/batch', { items });
  if (response.status !== 202) throw new Error(`${response.status} ${Buffer.from(response.bytes)}`);
  return response.json.jobId;
}

export async function stateOf(service: BatchService, tenant: Tenant, batchId: string): Promise<BatchState> {
  const response = await clientOf(service, tenant).call('GET', `/v1/pdf/batch/${batchId}?limit=0`);
  if (response.status !== 200) throw new Error(`${response.status} ${Buffer.from(response.bytes)}`);
  return response.json;
}

export async function untilEnded(
  service: BatchService,
  tenant: Tenant,
  batchId: string,
): Promise<BatchState> {
  for (;;) {
    const batch = await stateOf(service, tenant, batchId);
    if (batch.finishedAt !== null) return batch;
    await sleep(200);
  }
}

export async function cancel(service: BatchService, tenant: Tenant, batchId: string): Promise<void> {
  await clientOf(service, tenant).call('DELETE', `/v1/pdf/batch/${batchId}`);
  await untilEnded(service, tenant, batchId);
}

export function percentile95(sorted: readonly number[]): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? Number.NaN;
}

export function verdict(isReached: boolean): string {
  return isReached ? 'reached' : 'MISSED';
}
