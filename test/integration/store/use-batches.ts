import { randomUUID } from 'node:crypto';
import { BATCH_STATUSES } from '../../../src/work/batches/batch.ts';
import { endBatchRetention } from '../../../src/work/batches/retention.ts';
import { eventually } from '../../support/eventually.ts';
import { bytesOf, csvOf, Sourced, submissionOf } from '../batches/sourced.ts';
import type { TestApi, TestCaller } from '../http/support/api.ts';

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
  await useSources(api, caller);
  for (const days of [1, 30, 200]) {
    clock.pass(days * DAY_MS);
    await batches.reconciler.sweep();
    await endBatchRetention({ batches: batches.store, store, stored, outputs }, clock.now());
    await caller.get(`/v1/pdf/batch/${jobId}`);
    clock.pass(-days * DAY_MS);
  }
}

/** Every way that the file of a batch goes. */
async function useSources({ domain }: TestApi, { accountId, apiKeyId }: TestCaller): Promise<void> {
  const { batches, clock } = domain;
  const caller = { accountId, apiKeyId, apiKeyPrefix: 'sk', mode: 'live', planName: 'professional' } as const;
  const sourced = new Sourced(domain, {}, { ...caller, plan: domain.plan });
  const { _id } = await sourced.upload(csvOf(4), { proof: 2 });
  await sourced.readUntil(_id, 'the proof is there', ({ source }) => source!.read === 2);
  await sourced.idle();
  for (const order of ['pause', 'goOn', 'release'] as const)
    await batches.service.direct(sourced.caller, _id, order);
  await sourced.finish(_id);
  const { _id: cancelled } = await sourced.upload(csvOf(4), { proof: 2 });
  await batches.service.cancel(sourced.caller, cancelled);
  await sourced.finish(cancelled);
  const failing = await sourced.submit(submissionOf({ url: 'http://10.0.0.1/' }));
  await sourced.finish(failing._id);
  const unused = { _id: randomUUID(), accountId, test: false };
  await batches.files.keep(unused, 1e9, bytesOf(csvOf(1)));
  await batches.files.storedBytes(accountId);
  // As while others are being fetched.
  await batches.store.readings.due(1, { accountId: { $nin: [] }, fetches: { $exists: false } });
  clock.pass(2 * DAY_MS);
  await batches.files.deleteDue();
  clock.pass(-2 * DAY_MS);
  await batches.files.deleteOf(accountId);
  await sourced.close();
}
