import { finishDeletion } from '../accounts/support/deletion.ts';
import { serveAdmin } from '../admin/support/admin.ts';
import type { TestApi } from '../http/support/api.ts';

/** The deletion of an account that has jobs, a batch, and a record of billing. */
export async function useDeletion(api: TestApi): Promise<void> {
  const caller = await api.newCaller();
  const { accountId } = caller;
  await caller.completed();
  await caller.post('/v1/pdf/batch', { items: ['a', 'b'].map((id) => ({ id, html: '<p>x</p>' })) });
  await api.billing.store.open(accountId);
  const admin = await serveAdmin(api);
  try {
    await admin.ok('POST', `/admin/api/accounts/${accountId}/delete`, { confirm: accountId });
    await finishDeletion(api, accountId);
  } finally {
    await admin.close();
  }
}
