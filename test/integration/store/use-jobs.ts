import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expireLeases } from '../../../src/jobs/sweeps/expire-leases.ts';
import { measure } from '../../../src/jobs/sweeps/measure.ts';
import { recountSlots } from '../../../src/jobs/sweeps/recount-slots.ts';
import { republish } from '../../../src/jobs/sweeps/republish.ts';
import { settleReservations } from '../../../src/jobs/sweeps/reservations.ts';
import { deleteOrphanInputs, endRetention, moveLeftBehind } from '../../../src/jobs/sweeps/retention.ts';
import { expireWaiting, serveWaiting } from '../../../src/jobs/sweeps/serve-waiting.ts';
import { DEFAULT_PLANS } from '../../../src/plans/plan.ts';
import { HeldPlans } from '../../../src/plans/plan-source.ts';
import { newJob } from '../../support/domain.ts';
import type { TestApi } from '../http/support/api.ts';

const DAY_MS = 86_400_000;

/** Every sweep of jobs, and every way that a job goes. */
export async function useJobs(api: TestApi): Promise<void> {
  const { domain } = api;
  const { job, input } = newJob('someone');
  await domain.quota.reserve('someone', '2026-01' as never, randomUUID(), 10);
  await domain.dispatch.submit(job, input);
  await domain.slots.acquire('someone', randomUUID(), 10, true);
  await domain.mover.flush();
  await domain.settlement.flush();
  const { collections, lifecycle, dispatch, slots, quota } = domain;
  const common = { collections, lifecycle, dispatch, slots, planOf: async () => DEFAULT_PLANS.free };
  for (const days of [0, 1, 100]) {
    const now = new Date(Date.now() + days * DAY_MS);
    const rest = { retryBaseMs: 1000, random: Math.random, onRetried: () => {} };
    await republish({ ...common, now, unclaimedForMs: 0 });
    await expireLeases({ ...common, now, ...rest });
    await serveWaiting({ ...common, now });
    await recountSlots({ ...common, now, graceMs: 0 });
    await moveLeftBehind(collections, now, async () => {});
    await measure({ collections, plans: new HeldPlans(), metrics: api.metrics });
    await settleReservations({ collections, quota, now });
    await expireWaiting({ ...common, now });
    await endRetention(collections, api.outputs, now);
    await deleteOrphanInputs(collections, now);
  }
  await lifecycle.renew('nobody', [job], 1000);
}

/** Waits until the jobs that were under way have ended. */
export async function emptyJobs(api: TestApi): Promise<void> {
  await api.worker.stop();
  const { jobs } = api.domain.collections;
  while ((await jobs.countDocuments({ state: 'processing', owner: 'by hand' })) > 0) await sleep(20);
  await api.domain.mover.flush();
}
