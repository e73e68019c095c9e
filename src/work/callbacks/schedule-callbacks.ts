import { randomUUID } from 'node:crypto';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import type { Batch } from '../batches/batch.ts';
import { callbackBytes, type Job } from '../jobs/job.ts';
import type { FollowUpStep } from '../jobs/job-follow-up.ts';
import type { StoredBytes } from '../jobs/ledger/stored-bytes.ts';
import { type Delivery, deliveryIdOf, newDelivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';

type Deps = { readonly deliveries: DeliveryStore; readonly clock: Clock };

/** Schedules the callback of a finished batch; repeated for the same batch it changes nothing. */
export function callBackBatch({ deliveries, clock }: Deps): (batch: Batch) => Promise<void> {
  return async (batch) => {
    const { _id: jobId, webhookUrl, phase, finishedAt } = batch;
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
    await deliveries.add([newDelivery(batch, webhookUrl, payload, now)]);
  };
}

/** The step that follows the end of single renders: it schedules their callbacks. */
export function callBackJobs({ deliveries, clock }: Deps): FollowUpStep {
  return {
    name: 'schedule its callback',
    async run(jobs) {
      const scheduled = jobs.map((job) => deliveryOf(job, clock.now())).filter((one) => one !== undefined);
      if (scheduled.length > 0) await deliveries.add(scheduled);
    },
  };
}

/**
 * Schedules a callback that reports nothing, to test whether it arrives; it is signed and repeated as any other.
 *
 * @throws PlatenError STORAGE_FULL when the account has no room for its record.
 */
export async function scheduleTest(
  { deliveries, clock, stored }: Deps & { readonly stored: Pick<StoredBytes, 'take'> },
  caller: Pick<Caller, 'accountId' | 'ownerFence'> & { readonly plan: Pick<Plan, 'maxStoredBytes'> },
  url: string,
): Promise<Delivery> {
  const jobId = randomUUID();
  const now = clock.now();
  const bytes = callbackBytes(url);
  if (!(await stored.take(caller.accountId, { bytes, max: caller.plan.maxStoredBytes }))) {
    throw new PlatenError('STORAGE_FULL');
  }
  const statusUrl = `/user/webhook-deliveries/${deliveryIdOf(jobId)}`;
  const completedAt = now.toISOString();
  const payload = { event: 'webhook.test', jobId, status: 'completed', statusUrl, completedAt } as const;
  const delivery = { ...newDelivery(caller, url, payload, now), bytes };
  await deliveries.add([delivery]);
  return delivery;
}

function deliveryOf(job: Job, now: Date): Delivery | undefined {
  const { _id: jobId, webhookUrl, state, output, completedAt, updatedAt } = job;
  if (webhookUrl === undefined) return undefined;
  const statusUrl = `/v1/pdf/jobs/${jobId}`;
  const reported = { jobId, status: state, statusUrl };
  const at = { completedAt: (completedAt ?? updatedAt).toISOString() };
  const payload =
    output === null
      ? ({ event: 'render.failed', ...reported, ...at, ...(job.error && { error: job.error }) } as const)
      : ({ event: 'render.completed', ...reported, fileUrl: `${statusUrl}/file`, ...at } as const);
  return { ...newDelivery(job, webhookUrl, payload, now), bytes: callbackBytes(webhookUrl) };
}
