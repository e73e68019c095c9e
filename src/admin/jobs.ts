import { z } from 'zod';
import { ERRORS, type ErrorCode, PlatenError } from '../infra/errors/registry.ts';
import { requireActive } from '../tenants/accounts/account.ts';
import { type Caller, NO_KEY } from '../tenants/accounts/caller.ts';
import type { DoneBy } from '../tenants/audit/audit-log.ts';
import type { Job } from '../work/jobs/job.ts';
import { newJobId } from '../work/jobs/new-job.ts';
import type { AdminCore } from './admin-core.ts';
import { type Page, pageOf, type RequestedPage, readCursor } from './cursor.ts';
import { type ShownJob, type ShownJobDetail, shownJob, shownJobDetail } from './shown-job.ts';

/** `waiting` stands for jobs without a worker, `running` for those that a worker renders. */
export const JOB_LIST_STATES = ['waiting', 'running', 'failed', 'completed', 'cancelled'] as const;
type JobListState = (typeof JOB_LIST_STATES)[number];

/** The codes that a failed job may have. */
export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

/** Jobs that the operator looks for. */
export interface JobFilter {
  /** Default: `failed`. */
  readonly state?: JobListState | undefined;
  readonly accountId?: string | undefined;
  readonly errorCode?: ErrorCode | undefined;
  readonly templateId?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Failures are looked for within this time when the filter begins at none, in milliseconds. */
const LISTED_MS = 24 * 3_600_000;
const LIVE_STATES = { waiting: ['queued', 'dispatched'], running: ['processing'] } as const;
const after = z.string().max(200);
const listPosition = z.strictObject({ ms: z.int(), skip: z.int().min(0).max(10_000) });

/** Finds, repeats and cancels jobs of all accounts, for the operators of an installation. */
export class JobAdmin {
  readonly #core: AdminCore;

  constructor(core: AdminCore) {
    this.#core = core;
  }

  /**
   * A page of jobs. Failed, waiting and running jobs are listed over all accounts, the oldest first; completed and
   * cancelled ones of one account, without the items of batches, the newest first.
   *
   * @throws PlatenError VALIDATION when the filter has conditions that do not go together, or the cursor is none.
   */
  async list(filter: JobFilter, requested: RequestedPage): Promise<Page<ShownJob>> {
    const { state = 'failed' } = filter;
    checkFilter(filter);
    const { rows, cursor } =
      state === 'completed' || state === 'cancelled'
        ? await this.#ended(filter, state, requested)
        : await this.#listed(filter, requested);
    return { rows: rows.map(shownJob), cursor };
  }

  /** @throws PlatenError NOT_FOUND */
  async get(jobId: string): Promise<ShownJobDetail> {
    return shownJobDetail(await this.#require(jobId));
  }

  /**
   * Renders again what has failed or was cancelled, as its account could: a new job, which uses quota as any other.
   *
   * @returns the id of the new job.
   * @throws PlatenError NOT_FOUND; NOT_RETRYABLE; GONE; ACCOUNT_SUSPENDED; and as admission does.
   */
  async retry(jobId: string, by: DoneBy): Promise<string> {
    const job = await this.#require(jobId);
    const newId = newJobId();
    await this.retryAs(job, newId);
    const { accountId } = job;
    const about = { accountId, targetId: jobId, details: { newJob: newId } };
    await this.#core.audit.record({ action: 'job.retried', ...by, ...about });
    return newId;
  }

  /** @throws PlatenError NOT_FOUND; JOB_ENDED */
  async cancel(jobId: string, by: DoneBy): Promise<ShownJobDetail> {
    const { accountId } = await this.#require(jobId);
    const cancelled = await this.#core.renders.cancel({ accountId }, jobId);
    await this.#core.audit.record({ accountId, action: 'job.cancelled', ...by, targetId: jobId });
    return shownJobDetail(cancelled);
  }

  /** A page of jobs that are listed over all accounts, with what tells where the next one begins. */
  async read(filter: JobFilter, from: string | undefined, limit: number): Promise<readonly Job[]> {
    const { state = 'failed' } = filter;
    const { search } = this.#core.store;
    if (state === 'waiting' || state === 'running')
      return search.live({ ...filter, states: LIVE_STATES[state] }, { after: from, limit });
    return search.failed({ ...filter, ...this.times(filter) }, { after: from, limit });
  }

  /** Within what times failures are looked for. */
  times({ from, to = this.#core.clock.now() }: JobFilter): { readonly from: Date; readonly to: Date } {
    return { from: from ?? new Date(to.getTime() - LISTED_MS), to };
  }

  /** Repeats a job under an id, with which it changes nothing more. @throws PlatenError as `retry` does. */
  async retryAs(job: Job, newId: string): Promise<void> {
    const { accounts, plans, renders, store, admission } = this.#core;
    const { accountId } = job;
    if ((await store.find(accountId, newId)) !== undefined) return;
    if (job.item !== undefined) {
      const message = 'The job is an item of a batch: its account repeats the failed items of a batch.';
      throw new PlatenError('NOT_RETRYABLE', message, { jobId: job._id });
    }
    const account = await accounts.findNow(accountId);
    if (account === undefined) throw new PlatenError('NOT_FOUND', `There is no account ${accountId}.`);
    requireActive(account);
    const { plan: planName, quotaWindow, ownerFence } = account;
    const mode = job.test ? 'test' : 'live';
    const plan = plans.plan(planName);
    const caller: Caller = { ...NO_KEY, accountId, mode, planName, plan, quotaWindow, ownerFence };
    const rejection = admission(plan);
    if (rejection !== undefined) throw rejection;
    await renders.submit(caller, { ...(await renders.retryOf(job, caller)), jobId: newId });
  }

  /** Cancels a job that was read before. @throws PlatenError as `cancel` does. */
  async cancelRead({ accountId, _id }: Job): Promise<void> {
    await this.#core.renders.cancel({ accountId }, _id);
  }

  async #require(jobId: string): Promise<Job> {
    const job = await this.#core.store.findAny(jobId);
    if (job === undefined) throw new PlatenError('NOT_FOUND', `There is no job ${jobId}.`);
    return job;
  }

  async #listed(filter: JobFilter, { cursor, limit }: RequestedPage): Promise<Page<Job>> {
    const from = cursor === undefined ? undefined : readCursor(cursor, after);
    return pageOf(await this.read(filter, from, limit + 1), limit, positionOf);
  }

  /** By the list that accounts have of their jobs: the jobs of the last moment that were shown are skipped. */
  async #ended(
    { accountId, from, to }: JobFilter,
    state: 'completed' | 'cancelled',
    { cursor, limit }: RequestedPage,
  ): Promise<Page<Job>> {
    const { ms, skip } = cursor === undefined ? { ms: undefined, skip: 0 } : readCursor(cursor, listPosition);
    const { jobs } = await this.#core.store.list({
      accountId: accountId!,
      states: [state],
      from,
      to: ms === undefined ? to : new Date(ms + 1),
      limit: limit + 1,
      offset: skip,
      newestFirst: true,
    });
    return pageOf(jobs, limit, ({ createdAt }) => {
      const lastMs = createdAt.getTime();
      const shown = jobs.slice(0, limit).filter((job) => job.createdAt.getTime() === lastMs).length;
      return { ms: lastMs, skip: lastMs === ms ? skip + shown : shown };
    });
  }
}

/** Where a list over all accounts continues after a job. */
export function positionOf({ _id, failureKey }: Job): string {
  return failureKey ?? _id;
}

/** Writes a filter for a cursor, or for the audit log. */
export function filterText(filter: JobFilter): Record<string, string> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, value instanceof Date ? value.toISOString() : String(value)]),
  );
}

/** @throws PlatenError VALIDATION */
export function checkFilter({ state = 'failed', accountId, errorCode, templateId }: JobFilter): void {
  const ended = state === 'completed' || state === 'cancelled';
  if (ended && accountId === undefined) {
    throw new PlatenError(
      'VALIDATION',
      `accountId: required for ${state} jobs, which are listed by account.`,
    );
  }
  if (ended && templateId !== undefined) {
    throw new PlatenError('VALIDATION', `templateId: not possible for ${state} jobs.`);
  }
  if (errorCode !== undefined && state !== 'failed')
    throw new PlatenError('VALIDATION', 'errorCode: only failed jobs have one.');
}
