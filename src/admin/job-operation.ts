import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { PlatenError } from '../infra/errors/registry.ts';
import { namedUuid } from '../infra/ids/named-uuid.ts';
import type { DoneBy } from '../tenants/audit/audit-log.ts';
import type { Job } from '../work/jobs/job.ts';
import type { AdminCore } from './admin-core.ts';
import { readCursor, writeCursor } from './cursor.ts';
import {
  checkFilter,
  ERROR_CODES,
  filterText,
  JOB_LIST_STATES,
  type JobAdmin,
  type JobFilter,
  positionOf,
} from './jobs.ts';

export type JobAct = 'retry' | 'cancel';

/** What one call of an operation has done, and all calls of it so far. */
export interface OperationProgress {
  /** Jobs that were retried or cancelled, so far. */
  readonly done: number;
  /** Jobs that could not be, by error code, so far. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Continues the operation; null when it has looked at every job that fits. */
  readonly cursor: string | null;
}

/** Jobs of one call: some seconds of work at the most, and the caller sees how far it is. */
export const MOST_AT_ONCE = 100;
/** After this time a call ends with what it has done, in milliseconds. */
const LONGEST_MS = 10_000;

const moment = z.iso
  .datetime()
  .transform((text) => new Date(text))
  .optional();
/** An operation between two calls. The caller holds it, so that no process has to outlive it. */
const state = z.strictObject({
  id: z.uuid(),
  act: z.enum(['retry', 'cancel']),
  filter: z.strictObject({
    state: z.enum(JOB_LIST_STATES),
    accountId: z.string().optional(),
    errorCode: z.enum(ERROR_CODES).optional(),
    templateId: z.string().optional(),
    from: moment,
    to: moment,
  }),
  after: z.string().nullable(),
  done: z.int().min(0),
  skipped: z.record(z.string(), z.int()),
});
type OperationState = z.infer<typeof state>;

/**
 * Retries or cancels all jobs that fit a filter, some with each call. Each call continues where the one before has ended,
 * also after a crash: a job of a call that is repeated is found repeated or cancelled already, because the id of the new
 * job follows from those of the operation and the old job. What fails or is accepted after the beginning is left alone.
 */
export class JobOperation {
  readonly #core: AdminCore;
  readonly #jobs: JobAdmin;

  constructor(core: AdminCore, jobs: JobAdmin) {
    this.#core = core;
    this.#jobs = jobs;
  }

  /** @throws PlatenError VALIDATION unless `filter` is of failed jobs for `retry`, of live ones for `cancel`. */
  begin(act: JobAct, filter: JobFilter, by: DoneBy, limit = MOST_AT_ONCE): Promise<OperationProgress> {
    const { state: wanted = act === 'retry' ? 'failed' : 'waiting' } = filter;
    const fits = act === 'retry' ? wanted === 'failed' : wanted === 'waiting' || wanted === 'running';
    if (!fits) {
      const which = act === 'retry' ? 'failed' : 'waiting or running';
      throw new PlatenError('VALIDATION', `state: only ${which} jobs can be chosen by a filter for ${act}.`);
    }
    checkFilter({ ...filter, state: wanted });
    const times = act === 'retry' ? this.#jobs.times(filter) : { to: filter.to ?? this.#core.clock.now() };
    const all = { ...filter, ...times, state: wanted };
    return this.#run({ id: randomUUID(), act, filter: all, after: null, done: 0, skipped: {} }, by, limit);
  }

  /** @throws PlatenError VALIDATION for a cursor of something else. */
  continue(act: JobAct, cursor: string, by: DoneBy, limit = MOST_AT_ONCE): Promise<OperationProgress> {
    const known = readCursor<OperationState>(cursor, state as unknown as z.ZodType<OperationState>);
    if (known.act !== act)
      throw new PlatenError('VALIDATION', `cursor: it is of an operation to ${known.act}.`);
    return this.#run(known, by, limit);
  }

  async #run(operation: OperationState, by: DoneBy, limit: number): Promise<OperationProgress> {
    const jobs = this.#jobs;
    const { act, filter } = operation;
    const until = performance.now() + LONGEST_MS;
    const found = await jobs.read(filter, operation.after ?? undefined, limit);
    const skipped: Record<string, number> = { ...operation.skipped };
    const doneOf = new Map<string, number>();
    let seen = 0;
    for (const job of found) {
      if (performance.now() > until) break;
      const refused = await this.#apply(act, job, operation.id);
      // It passes: the next call begins with this job, or this one fails if it was the first.
      if (refused?.code === 'UNAVAILABLE') {
        if (seen === 0) throw refused;
        break;
      }
      if (refused === undefined) doneOf.set(job.accountId, (doneOf.get(job.accountId) ?? 0) + 1);
      else skipped[refused.code] = (skipped[refused.code] ?? 0) + 1;
      seen += 1;
    }
    await this.#record(operation, doneOf, by);
    const last = found[seen - 1];
    const done = operation.done + [...doneOf.values()].reduce((sum, count) => sum + count, 0);
    const isLast = seen === found.length && found.length < limit;
    const after = last === undefined ? operation.after : positionOf(last);
    return { done, skipped, cursor: isLast ? null : writeCursor({ ...operation, after, done, skipped }) };
  }

  /** @returns the error with which a job was left alone. @throws any other error. */
  async #apply(act: JobAct, job: Job, operationId: string): Promise<PlatenError | undefined> {
    const jobs = this.#jobs;
    try {
      if (act === 'retry') await jobs.retryAs(job, namedUuid('retry', operationId, job._id));
      else await jobs.cancelRead(job);
      return undefined;
    } catch (error) {
      if (!(error instanceof PlatenError)) throw error;
      return error;
    }
  }

  /** One entry for each account, with the number of its jobs. */
  async #record({ id, act, filter }: OperationState, doneOf: ReadonlyMap<string, number>, by: DoneBy) {
    const action = act === 'retry' ? 'job.retried' : 'job.cancelled';
    for (const [accountId, jobs] of doneOf) {
      const details = { ...filterText(filter), jobs: `${jobs}`, operation: id };
      await this.#core.audit.record({ accountId, action, ...by, details });
    }
  }
}
