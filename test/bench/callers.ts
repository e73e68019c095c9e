import type { Pool } from 'undici';
import { openStoredTenants } from '../support/tenant.ts';
import { PRINT } from './documents.ts';

/** Accounts of the plan business, written as the service would. @returns the secret of one key of each. */
export async function makeAccounts(uri: string, emails: readonly string[]): Promise<string[]> {
  const { connection, accounts, keys } = await openStoredTenants(uri);
  const secrets: string[] = [];
  for (const email of emails) {
    const account = await accounts.create(email, null, 'business');
    const { secret } = await keys.create(account!._id, { name: 'bench', mode: 'live', allowedIps: [] });
    secrets.push(secret);
  }
  await connection.close();
  return secrets;
}

/**
 * Orders a document over HTTP, by the account whose key it is given, and waits for the answer: the PDF, or with `async` that
 * it has been let in.
 */
export function renderOf(
  pool: Pool,
  html: string,
  executionMode: 'sync' | 'async' = 'sync',
  options: object = PRINT,
): (key: string) => Promise<void> {
  const body = JSON.stringify({ html, options, executionMode });
  const wanted = executionMode === 'sync' ? 200 : 202;
  return async (key) => {
    const response = await pool.request({
      path: '/v1/pdf',
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body,
    });
    const read = await response.body.arrayBuffer();
    if (response.statusCode !== wanted)
      throw new Error(`${response.statusCode} ${Buffer.from(read).subarray(0, 300)}`);
  };
}
