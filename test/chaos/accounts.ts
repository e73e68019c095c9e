import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AccountClient, signUp } from '../support/account-client.ts';
import { TestClient } from '../support/client.ts';

export const MONTHLY_RENDERS = 100_000;

/** What new accounts get: fewer slots than jobs at a time, so that jobs wait for slots, and no other bound in the way. */
const PLAN = {
  monthlyRenders: MONTHLY_RENDERS,
  requestsPerMinute: 1_000_000,
  concurrentRenders: 3,
  maxWaitingJobs: 5000,
};

/** An account of the run, as its owner sees it. */
export interface ChaosAccount {
  readonly name: string;
  readonly owner: AccountClient;
  /** A caller with the account's key for every API. */
  readonly callers: readonly TestClient[];
  /** Prints `Order {{ order }}`. */
  readonly templateId: string;
}

/** @returns the plans file to start the service with. */
export async function writePlans(): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'platen-chaos-')), 'plans.json');
  await writeFile(file, JSON.stringify({ plans: { free: PLAN } }));
  return file;
}

export async function openAccount(name: string, urls: readonly string[]): Promise<ChaosAccount> {
  const owner = await signUp(urls[0]!);
  const { apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name, mode: 'live' });
  const template = { name, content: '<h1>Order {{ order }}</h1><p>from a template</p>', sampleData: '{}' };
  const { id } = await owner.expect(201, 'POST', '/user/templates', template);
  return { name, owner, callers: urls.map((url) => new TestClient(url, apiKey)), templateId: id };
}
