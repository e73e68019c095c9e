import { randomUUID } from 'node:crypto';
import { BATCH_STATUSES } from '../../../src/work/batches/batch.ts';
import { endBatchRetention } from '../../../src/work/batches/retention.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestApi } from '../http/support/api.ts';

const DAY_MS = 86_400_000;

/** Every way that a batch goes, and its sweeps. */
export async function useBatches(api: TestApi): Promise<void> {
  const { domain, outputs } = api;
  const { batches, store, stored, clock } = domain;
  const caller = await api.newCaller();
  const shared = `<p>${'shared '.repeat(50)}</p>`;
  const body = { items: ['a', 'b', 'c'].map((id) => ({ id, html: shared })) };
  const { jobId } = (await caller.post('/v1/pdf/batch', body)).json;
  for (const status of BATCH_STATUSES) await caller.get(`/v1/pdf/batch?status=${status}`);
  await eventually('it has ended', async () => (await caller.get(`/v1/pdf/batch/${jobId}`)).json.finishedAt);
  await caller.get(`/v1/pdf/batch/${jobId}/a`);
  await caller.get(`/v1/pdf/batch/${jobId}/zip`);
  const { url } = (await caller.get(`/v1/pdf/batch/${jobId}/manifest/download-url`)).json;
  await caller.get(new URL(url).pathname);
  const cancelled = (await caller.post('/v1/pdf/batch', body)).json.jobId;
  await caller.delete(`/v1/pdf/batch/${cancelled}`);
  await domain.flush();
  await batches.metrics.report(caller.accountId, '90d');
  await batches.store.noteCallback(jobId, 'delivered');
  // Of an admission that died before it had written the batch.
  await batches.admission.forgetUnless(randomUUID(), 3);
  await batches.reconciler.sweep();
  for (const days of [1, 30, 200]) {
    clock.pass(days * DAY_MS);
    await batches.reconciler.sweep();
    await endBatchRetention({ batches: batches.store, store, stored, outputs }, clock.now());
    await caller.get(`/v1/pdf/batch/${jobId}`);
    clock.pass(-days * DAY_MS);
  }
}
