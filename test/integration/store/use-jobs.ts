import { randomUUID } from 'node:crypto';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { AccountLoads } from '../../../src/work/jobs/account-loads.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { StoredRecount } from '../../../src/work/jobs/sweeps/recount-stored.ts';
import { endRetention } from '../../../src/work/jobs/sweeps/retention.ts';
import { WaitingJobs } from '../../../src/work/jobs/sweeps/waiting-jobs.ts';
import { newJob } from '../../support/domain.ts';
import type { TestApi } from '../http/support/api.ts';

const DAY_MS = 86_400_000;

/** Every sweep of jobs, and every way that a job goes. */
export async function useJobs(api: TestApi): Promise<void> {
  const { domain } = api;
  const period = quotaPeriod(new Date());
  const limits = { maxWaiting: 10, quota: { period, limit: 10 } };
  await domain.ledger.takeSlot('someone', randomUUID(), 10, limits.quota);
  const id = randomUUID();
  await domain.ledger.takePositions('someone', { id, jobs: [id], queue: 'bulk' }, limits);
  const { job, input } = newJob('someone');
  await domain.admit({ job, input });
  const live = await domain.store.live.find(job._id);
  if (live !== undefined) await endEarly(domain, [live]);
  // While the job that has just ended is on its way to the history.
  await domain.store.list({ accountId: 'someone', limit: 10, offset: 0, newestFirst: true });
  const waitingJobs = new WaitingJobs(domain);
  for (const days of [0, 1, 100]) {
    domain.clock.pass(days * DAY_MS);
    await repairInterruptedJobs(
      { ...domain, redeliveryMs: 0, retryBaseMs: 1000, random: Math.random, onRetried: () => {} },
      await domain.ledger.active(),
    );
    await domain.retries.returnDue();
    await waitingJobs.serve(await domain.ledger.active());
    await waitingJobs.expire(await domain.ledger.active());
    await domain.store.live.countRunning([job._id]);
    await endRetention(
      { history: domain.store.history, stored: domain.stored },
      api.outputs,
      domain.clock.now(),
    );
  }
  domain.clock.pass(-101 * DAY_MS);
  await domain.dueLedgers.dateUndated();
  await domain.dueLedgers.due(1);
  const loads = new AccountLoads({
    ledgers: domain.ledgerLoads,
    plans: api.core.accountPlans,
    clock: domain.clock,
  });
  for (let i = 0; i < 2; i += 1) await loads.read();
  await recount(api);
  await domain.store.transitions.renew('nobody', [job], 1000);
  await domain.ledger.quotaUsed('someone', period);
}

/** Counts anew what accounts keep: of each at its second visit. */
async function recount({ domain, templates }: TestApi): Promise<void> {
  const { history, live } = domain.store;
  const counts = [
    (id: string) => history.storedBytes(id),
    (id: string) => live.inputBytes(id),
    (id: string) => domain.batches.store.keptBytes(id),
    (id: string) => templates.storedBytes(id),
  ];
  const sweep = new StoredRecount({ ...domain, counts });
  for (let i = 0; i < 2; i += 1) await sweep.run();
  for (const count of counts) await count('someone');
}

/** Waits until the jobs that were under way have ended. */
export async function emptyJobs(api: TestApi): Promise<void> {
  await api.worker.stop(5000);
  await api.domain.flush();
}
