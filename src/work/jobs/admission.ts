import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { PendingAdmission } from '../../infra/overload/pending-admission.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import { type QuotaWindow, testPeriod } from '../../tenants/plans/quota-period.ts';
import { rejectionOf } from './admission-rejection.ts';
import { type QuotaExtension, withExtension } from './blocks/quota-extension.ts';
import type { Job, JobInput } from './job.ts';
import type { JobDispatch } from './job-dispatch.ts';
import type { Ledger, QuotaLimit } from './ledger/ledger.ts';
import type { LedgerRecord } from './ledger/ledger-record.ts';
import { positionOf, queueOf } from './priority-queues.ts';

import type { JobStore } from './store/job-store.ts';
import { isInRecord, storedInput } from './store/stored-input.ts';

/** A job to be admitted, in state `queued` and version 1, and its input. */
export interface NewJob {
  readonly job: Job;
  readonly input: JobInput;
}

/** An account as the request found it. */
interface AccountSnapshot {
  readonly accountId: string;
  readonly plan: Plan;
  readonly quotaWindow?: QuotaWindow | null | undefined;
}

/** What was reserved for new jobs: a slot, or positions in a queue from this number on. */
type Taken = 'slot' | { readonly first: number };

/** The job was admitted before, by another attempt of the same request. */
export class JobExists extends Error {
  constructor(jobId: string) {
    super(`The job ${jobId} exists already.`);
    this.name = 'JobExists';
  }
}

interface AdmissionDeps {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly dispatch: JobDispatch;
  readonly quotaExtension: QuotaExtension;
  readonly clock: Clock;
}

/**
 * Half of the time after which a sweep takes an admission for dead (see sweeps/interrupted-jobs.ts). An admission that has
 * taken longer than this, because the database responded slowly, writes nothing any more, or checks what it has
 * written.
 */
const SLOW_MS = 5000;
/** The interval at which the progress of another attempt of the same request is checked, in milliseconds. */
const POLL_MS = 50;
/** Accounts that are remembered to have waiting jobs, so that no slot is tried first in vain. */
const REMEMBERED_ACCOUNTS = 10_000;

/**
 * Admits jobs. One update of the account's ledger reserves everything that they need, before anything is written. So a
 * rejection leaves nothing behind, and jobs that are submitted together are all admitted or none.
 *
 *    1 take      a slot and quota for a single job, or positions and quota for all   one update of the ledger
 *    2 write     the inputs that are not in the records of their jobs, then the jobs
 *    3 confirm   that waiting jobs are at their positions                            one update of the ledger
 *    4 go on     publish the pointer, or give the free slots to the jobs at the heads of the queues
 *
 * After a crash a sweep finds the jobs by their names in the ledger (sweeps/interrupted-jobs.ts):
 *
 *    after 1     a slot or positions without jobs: given back with their quota, and any inputs are deleted
 *    after 2     a dispatched job that no worker knows of: its pointer is published
 *                jobs at their positions, and positions to confirm: confirmed
 *    after 3     free slots while jobs wait: given out (sweeps/waiting-jobs.ts)
 *
 * Each of these updates makes the ledger due, so that the sweep reads no others (ledger/ledger-due.ts).
 */
export class Admission {
  readonly #deps: AdmissionDeps;
  readonly #contended = new LRUCache<string, true>({ max: REMEMBERED_ACCOUNTS });

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /**
   * Admits jobs of one account, all of one class. When it resolves, they are durable.
   *
   * @param account with the plan that the request found.
   * @throws PlatenError TOO_MANY_WAITING, QUOTA_EXCEEDED, OVERAGE_PENDING, TEST_QUOTA_EXCEEDED, STORAGE_FULL or
   * INPUT_TOO_LARGE; nothing is left behind then. JobExists when a single job was admitted before. After any other
   * error the jobs may have been admitted or not; a sweep finishes or undoes the admission.
   */
  async admit(
    account: AccountSnapshot,
    newJobs: readonly NewJob[],
    { timer, releasePermit }: PendingAdmission,
  ): Promise<void> {
    const inputs = newJobs.map(({ input }) => storedInput(input));
    const jobs = newJobs.map(({ job }, i) => ({ ...job, inputBytes: inputs[i]!.content.length() }));
    const { quotaExtension } = this.#deps;
    const plain = quotaOf(jobs[0]!, account.plan, this.#deps.clock.now());
    const need = { accountId: account.accountId, count: jobs.length, plain, releasePermit };
    const { taken, began } = await timer.time('reserve', () =>
      withExtension(quotaExtension, need, (quota) => this.#take(account, jobs, quota)),
    );
    const { store, clock, dispatch, ledger } = this.#deps;
    await store.inputs.save(inputs.filter((_, i) => !isInRecord(jobs[i]!)));
    rejectIfSlow(began);
    if (taken === 'slot') {
      const dispatched: Job = { ...jobs[0]!, state: 'dispatched', dispatchedAt: clock.now() };
      if (!(await store.transitions.accept([dispatched], inputs))) throw new JobExists(dispatched._id);
      dispatch.publish(dispatched, account.plan);
      return;
    }
    const [first] = jobs as [Job];
    const queue = queueOf(first.class, false);
    const placed = jobs.map((job, i) => ({
      ...job,
      position: positionOf(job.accountId, queue, taken.first + i),
    }));
    if (!(await store.transitions.accept(placed, inputs)) && placed.length === 1) {
      // The attempt that wrote the job had lost its reservation; this attempt's reservation now stands for the job.
      await ledger.confirmPositions(account.accountId, first._id);
      throw new JobExists(first._id);
    }
    dispatch.expect(placed);
    const confirmed = await timer.time('confirm', () =>
      ledger.confirmPositions(account.accountId, first._id),
    );
    if (confirmed === undefined) {
      // A sweep has taken this process for dead, and has given back what it had reserved.
      await store.live.withdraw(jobs.map(({ _id }) => _id));
      throw tookTooLong();
    }
    await dispatch.serve(account.accountId, confirmed);
  }

  /**
   * Gives back what an earlier attempt of the same request reserved for a job that it never wrote. A sweep would do it
   * later, but a repeated request need not wait for that.
   */
  async abandon(accountId: string, jobId: string): Promise<void> {
    const { ledger } = this.#deps;
    const record = await ledger.find(accountId);
    const holder = record?.holders?.[jobId];
    const pending = record?.pending?.[jobId];
    if (holder !== undefined)
      await ledger.undoSlot(accountId, jobId, holder.quota, holder.since, holder.bytes);
    if (pending === undefined) return;
    const { jobs, quota, since, bytes } = pending;
    await ledger.undoPositions(accountId, jobId, jobs.length, quota, since, bytes);
  }

  /** Takes a slot for a single job if no other job waits before it, otherwise positions for all jobs. */
  async #take(account: AccountSnapshot, jobs: readonly Job[], quota: QuotaLimit | undefined): Promise<Taken> {
    const { ledger } = this.#deps;
    const { accountId, plan } = account;
    const [job] = jobs as [Job];
    const bytes = jobs.reduce((sum, { inputBytes = 0 }) => sum + inputBytes, 0);
    const stored = { bytes, max: plan.maxStoredBytes };
    const admission = { id: job._id, jobs: jobs.map(({ _id }) => _id), queue: queueOf(job.class, false) };
    const limits = { maxWaiting: plan.maxWaitingJobs, quota, stored };
    if (this.#contended.has(accountId)) {
      const first = await ledger.takePositions(accountId, admission, limits, true);
      if (first !== undefined) return { first };
      this.#contended.delete(accountId);
    }
    const cap = plan.concurrentRenders;
    if (jobs.length === 1 && (await ledger.takeSlot(accountId, job._id, cap, quota, stored))) return 'slot';
    const first = await ledger.takePositions(accountId, admission, limits);
    if (first !== undefined) {
      this.#contended.set(accountId, true);
      return { first };
    }
    const record = await ledger.find(accountId);
    // Another attempt of the same request is under way, in a process that was taken for dead.
    if (isNamed(record, job._id)) return this.#afterOther(account, jobs, quota);
    throw rejectionOf(record, jobs.length, account, limits, this.#deps.clock.now());
  }

  /** Waits until the other attempt has written the job or given up. @throws JobExists, and as `#take`. */
  async #afterOther(
    account: AccountSnapshot,
    jobs: readonly Job[],
    quota: QuotaLimit | undefined,
  ): Promise<Taken> {
    const { store, ledger } = this.#deps;
    const [job] = jobs as [Job];
    for (let waited = 0; waited < SLOW_MS; waited += POLL_MS) {
      await sleep(POLL_MS);
      if ((await store.find(job.accountId, job._id)) !== undefined) throw new JobExists(job._id);
      if (!isNamed(await ledger.find(job.accountId), job._id)) return this.#take(account, jobs, quota);
    }
    throw new PlatenError('IDEMPOTENCY_IN_PROGRESS', undefined, { retryAfterSeconds: 1 });
  }
}

function isNamed(record: LedgerRecord | undefined, jobId: string): boolean {
  return record?.holders?.[jobId] !== undefined || record?.pending?.[jobId] !== undefined;
}

/**
 * The quota that a job uses: of the month or, with a test key, of the day. The quota of a day is given back only if the
 * job is never written: a test render counts whatever its outcome.
 */
export function quotaOf(
  { test, quotaPeriod }: Pick<Job, 'test' | 'quotaPeriod'>,
  { monthlyRenders, maxTestRendersPerDay }: Plan,
  now: Date,
): QuotaLimit | undefined {
  if (test) return { period: testPeriod(now), limit: maxTestRendersPerDay };
  return quotaPeriod === null ? undefined : { period: quotaPeriod, limit: monthlyRenders };
}

/** @param began time by `performance.now()`. @throws PlatenError UNAVAILABLE. */
export function rejectIfSlow(began: number): void {
  if (performance.now() - began < SLOW_MS) return;
  throw tookTooLong();
}

/** The error when a sweep has taken this process for dead. */
export function tookTooLong(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'The database took too long.', { retryAfterSeconds: 1 });
}
