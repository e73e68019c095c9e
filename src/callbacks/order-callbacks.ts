import type { Batch } from '../batches/batch.ts';
import type { Clock } from '../clock.ts';
import { callbackBytes, type Job } from '../jobs/job.ts';
import type { JobEndStep } from '../jobs/job-ends.ts';
import { type Delivery, newDelivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';

type Parts = { readonly deliveries: DeliveryStore; readonly clock: Clock };

/** Orders the callback of a batch that has finished; again for the same batch it changes nothing. */
export function callBackBatch({ deliveries, clock }: Parts): (batch: Batch) => Promise<void> {
  return async (batch) => {
    const { _id: jobId, accountId, webhookUrl, phase, finishedAt } = batch;
    if (webhookUrl === null) return;
    const now = clock.now();
    const statusUrl = `/v1/pdf/batch/${jobId}`;
    const payload = {
      event: 'batch.completed',
      jobId,
      status: phase,
      statusUrl,
      zipUrl: `${statusUrl}/zip`,
      completedAt: (finishedAt ?? now).toISOString(),
    } as const;
    await deliveries.order([newDelivery(accountId, webhookUrl, payload, now)]);
  };
}

/** The step that follows the end of single renders: their callbacks are ordered. */
export function callBackJobs({ deliveries, clock }: Parts): JobEndStep {
  return {
    name: 'order its callback',
    async run(jobs) {
      const ordered = jobs.map((job) => deliveryOf(job, clock.now())).filter((one) => one !== undefined);
      if (ordered.length > 0) await deliveries.order(ordered);
    },
  };
}

function deliveryOf(job: Job, now: Date): Delivery | undefined {
  const { _id: jobId, accountId, webhookUrl, state, output, completedAt, updatedAt } = job;
  if (webhookUrl === undefined) return undefined;
  const statusUrl = `/v1/pdf/jobs/${jobId}`;
  const told = { jobId, status: state, statusUrl };
  const at = { completedAt: (completedAt ?? updatedAt).toISOString() };
  const payload =
    output === null
      ? ({ event: 'render.failed', ...told, ...at, ...(job.error && { error: job.error }) } as const)
      : ({ event: 'render.completed', ...told, fileUrl: `${statusUrl}/file`, ...at } as const);
  return { ...newDelivery(accountId, webhookUrl, payload, now), bytes: callbackBytes(webhookUrl) };
}
