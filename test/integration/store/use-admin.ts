import { randomUUID } from 'node:crypto';
import { serveAdmin } from '../admin/support/admin.ts';
import type { TestApi } from '../http/support/api.ts';

const ID = randomUUID();
/** Of lists that are sorted by a time, and by a text. */
const AFTER_TIME = cursor({ value: '2026-01-01T00:00:00.000Z', id: ID });
const AFTER_TEXT = cursor({ value: 'a@example.com', id: ID });
const AFTER_ID = cursor(ID);

/** Every list of the administration, from its beginning and from a cursor, and every act. */
export async function useAdmin(api: TestApi): Promise<void> {
  const { accountId } = await api.newCaller();
  const admin = await serveAdmin(api);
  try {
    for (const path of [
      '/accounts',
      `/accounts?cursor=${AFTER_TIME}`,
      '/accounts?search=a',
      `/accounts?search=a&cursor=${AFTER_TEXT}`,
      '/accounts?plan=professional',
      `/accounts?plan=professional&cursor=${AFTER_TIME}`,
      '/accounts?suspended=true',
      '/accounts?suspended=true&plan=professional',
      `/accounts?suspended=true&cursor=${AFTER_TIME}`,
      `/accounts/${accountId}`,
      '/queue',
      '/workers',
      '/jobs',
      `/jobs?cursor=${AFTER_ID}`,
      `/jobs?accountId=${accountId}&errorCode=INTERNAL&templateId=${ID}`,
      '/jobs?state=waiting',
      `/jobs?state=running&accountId=${accountId}&templateId=${ID}&from=2026-01-01T00:00:00Z`,
      `/jobs?state=completed&accountId=${accountId}`,
      '/audit',
      `/audit?cursor=${AFTER_TIME}`,
      '/billing/purchases',
      '/billing/events',
      `/billing/events?cursor=${AFTER_TIME}`,
      '/billing/subscriptions',
    ])
      await admin.ok('GET', `/admin/api${path}`);
    for (const list of ['deliveries', 'mails'])
      for (const state of ['waiting', 'failed'])
        for (const query of ['', `&cursor=${AFTER_TIME}`])
          await admin.ok('GET', `/admin/api/${list}?state=${state}${query}`);
    await admin.ok('POST', `/admin/api/accounts/${accountId}/suspend`, { reason: 'x' });
    await admin.ok('POST', `/admin/api/accounts/${accountId}/resume`);
    await admin.ok('POST', '/admin/api/jobs/retry', { filter: { accountId } });
    await admin.ok('POST', '/admin/api/jobs/cancel', { filter: { accountId } });
    for (const act of [
      'workers/none/drain',
      'workers/none/resume',
      `deliveries/${ID}/retry`,
      'mails/none/retry',
      'billing/events/none/retry',
      'billing/purchases/none/retry',
      'billing/subscriptions/none/retry',
    ])
      await admin.call('POST', `/admin/api/${act}`);
    await api.domain.store.retries.nextOf(accountId);
  } finally {
    await admin.close();
  }
}

function cursor(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}
