import { type ErrorCode, PlatenError } from '../../../infra/errors/registry.ts';
import type { FutureTimes } from '../../../infra/store/future-times.ts';
import { NO_TRACING, type Tracing } from '../../../infra/tracing/tracing.ts';
import { poolOf } from '../../../tenants/plans/plan.ts';
import { startAttemptSpan } from '../attempt-span.ts';
import { finalisingName, hasEnded, type Job, jobOfFinalising } from '../job.ts';
import type { LedgerRecord, PendingPositions, SlotHolder } from '../ledger/ledger-record.ts';
import { decideRetry } from '../retry-policy.ts';
import type { SweptJobs } from './swept-jobs.ts';

export interface RepairedJobs extends SweptJobs {
  /** How long a worker holds a job without renewing its lease, in milliseconds. */
  readonly leaseMs: number;
  /** Milliseconds without a claim after which the pointer of a dispatched job is published again. */
  readonly redeliveryMs: number;
  /** The first wait between attempts, in milliseconds. */
  readonly retryBaseMs: number;
  readonly random: () => number;
  /**
   * Whether a batch is durable whose admission was begun a while ago; then its jobs still have to be written. If it is
   * not durable, everything written for it is deleted, and its positions are given back.
   */
  readonly keepsArrivalOf?: (batchId: string, items: number) => Promise<boolean>;
  /** Called for every attempt that will be repeated. */
  readonly onRetried: (code: ErrorCode) => void;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
}

/** Milliseconds between two steps after which a process counts as dead; usually it takes moments. */
export const DEAD_MS = 10_000;
/** Milliseconds without a follow-up after which a job's end is followed up here; usually it takes 250. */
export const UNFOLLOWED_MS = 5000;
/** Milliseconds by which a process has decided whether it ends a waiting job: its name can be withdrawn. */
export const UNDECIDED_MS = 60_000;
/**
 * Leases for which an end that lies too far in the future stays unchanged, until the worker counts as lost: workers may
 * have been given a longer lease than this process knows of.
 */
const UNRENEWED_LEASES = 2;

/**
 * Checks every job that a ledger names, and does what the process that named it has left undone: a process died between
 * two steps, a worker was lost, or a pointer did not arrive.
 *
 * @param ledgers the ledgers of accounts with something to check.
 * @returns the number of repairs.
 */
export async function repairInterruptedJobs(
  deps: RepairedJobs,
  ledgers: readonly LedgerRecord[],
): Promise<number> {
  const live = await deps.store.live.among(ledgers.flatMap((ledger) => namedIn(ledger, deps.times)));
  let repaired = 0;
  for (const ledger of ledgers) repaired += await repairLedger(deps, ledger, live);
  return repaired;
}

/** The same for one ledger. @param live the live jobs among `namedIn`. */
export async function repairLedger(
  deps: RepairedJobs,
  ledger: LedgerRecord,
  live: ReadonlyMap<string, Job>,
): Promise<number> {
  const { times } = deps;
  const accountId = ledger._id;
  let repaired = 0;
  for (const [jobId, holder] of Object.entries(ledger.holders ?? {})) {
    repaired += Number(await repairHolder(deps, { accountId, jobId, holder, job: live.get(jobId) }));
  }
  for (const [id, pending] of olderThan(DEAD_MS, ledger.pending ?? {}, times)) {
    repaired += Number(await repairPositions(deps, accountId, id, pending, live));
  }
  for (const [name, { since }] of olderThan(UNFOLLOWED_MS, timed(ledger.finalising), times)) {
    const jobId = jobOfFinalising(name);
    // If the head has reached the job meanwhile, the job has been moved to the history (JobDispatch.clearPositions).
    const job = live.get(jobId) ?? (await deps.store.history.find(jobId));
    if (job !== undefined && hasEnded(job.state) && finalisingName(job) === name) {
      repaired += Number(await deps.followUp.follow([job]));
    } else if (times.ageMs(name, since) > UNDECIDED_MS) {
      await deps.ledger.withdrawEnds(accountId, name);
    }
  }
  const unfollowed = olderThan(UNFOLLOWED_MS, timed(ledger.ending), times).map(([jobId]) => jobId);
  if (unfollowed.length > 0) repaired += await finishEnds(deps, accountId, unfollowed);
  return repaired;
}

/** The ids of the jobs to check. */
export function namedIn(ledger: LedgerRecord, times: FutureTimes): string[] {
  return [
    ...Object.keys(ledger.holders ?? {}),
    ...olderThan(DEAD_MS, ledger.pending ?? {}, times).flatMap(([, { jobs }]) => jobs),
    ...olderThan(UNFOLLOWED_MS, timed(ledger.finalising), times).map(([name]) => jobOfFinalising(name)),
    ...olderThan(UNFOLLOWED_MS, timed(ledger.ending), times).map(([id]) => id),
  ];
}

interface Held {
  readonly accountId: string;
  readonly jobId: string;
  readonly holder: SlotHolder;
  /** Undefined when the job is not live. */
  readonly job: Job | undefined;
}

/** @returns whether something was repaired. */
async function repairHolder(deps: RepairedJobs, held: Held): Promise<boolean> {
  const { job, jobId, holder } = held;
  const { times } = deps;
  const dead = times.ageMs(`slot of ${jobId}`, holder.since) > DEAD_MS;
  if (job === undefined) return dead && (await freeUnusedSlot(deps, held));
  switch (job.state) {
    case 'dispatched':
      return publishAgain(deps, job);
    case 'processing':
      return endLostAttempt(deps, job);
    case 'queued':
      if (!dead) return false;
      // The job is between the slot and the dispatch, or between the end of its attempt and the release of its slot.
      // Only the slot that was read: the job may have returned meanwhile and hold another one.
      if (job.position === undefined) return deps.retries.releaseSlot(job, holder.since);
      return (await deps.dispatch.dispatch([job], (await deps.planOf(job.accountId)).plan)).length > 0;
    default:
      if (times.ageMs(`change of ${jobId}`, job.updatedAt) < UNFOLLOWED_MS) return false;
      return job.endedFrom !== 'queued' ? deps.followUp.follow([job]) : undoDispatch(deps, job, holder.since);
  }
}

/** The process died before it had written the job; or the job ended long ago, and its slot was taken twice. */
async function freeUnusedSlot(deps: RepairedJobs, { accountId, jobId, holder }: Held): Promise<boolean> {
  const ended = await deps.store.history.find(jobId);
  const { quota, bytes, since } = holder;
  const { ledger } = deps;
  const freed =
    ended === undefined
      ? await ledger.undoSlot(accountId, jobId, quota, since, bytes)
      : await ledger.undoSlot(accountId, jobId, undefined, since);
  if (freed === undefined) return false;
  if (ended === undefined) await deps.store.inputs.deleteAbandoned([jobId], since);
  await deps.dispatch.serve(accountId, freed);
  return true;
}

/** The job ended while it was being given its slot, and the process died before it could take the slot back. */
async function undoDispatch(
  { ledger, dispatch: jobDispatch }: RepairedJobs,
  job: Job,
  since: number,
): Promise<boolean> {
  await jobDispatch.clearPositions([job]);
  const freed = await ledger.backToWaiting(job.accountId, job._id, since);
  if (freed !== undefined) await jobDispatch.serve(job.accountId, freed);
  return freed !== undefined;
}

/** The message may be lost, or its pool may have no workers any more; the plan names the present pool. */
async function publishAgain(deps: RepairedJobs, job: Job): Promise<boolean> {
  if (deps.times.ageMs(`change of ${job._id}`, job.updatedAt) < deps.redeliveryMs) return false;
  const { plan } = await deps.planOf(job.accountId);
  const pool = poolOf(plan);
  // The update spaces the messages; it fails when a worker has claimed the job meanwhile.
  if (!(await deps.store.live.touch(job, pool, deps.clock.now()))) return false;
  deps.dispatch.publish({ ...job, pool }, plan, true);
  return true;
}

/** Takes a job from a worker that has stopped renewing its lease. The job is retried, or fails. */
async function endLostAttempt(deps: RepairedJobs, job: Job): Promise<boolean> {
  const { retries, store, followUp, times, leaseMs, retryBaseMs, random, onRetried } = deps;
  const { _id, leaseExpiresAt } = job;
  if (leaseExpiresAt === null) return false;
  if (!times.isOver(`lease of ${_id}`, leaseExpiresAt, leaseMs, UNRENEWED_LEASES * leaseMs)) return false;
  const error = new PlatenError('WORKER_LOST');
  const decision = decideRetry(job, error, retryBaseMs, random);
  if (decision.kind === 'retry') {
    const retried = await retries.retryLater(job, error, decision.delayMs, true);
    if (!retried) return false;
    traceLostAttempt(deps, job, 'retried');
    onRetried(error.code);
    return true;
  }
  const failed = await store.transitions.fail([job], error, { onlyIfLeaseEnded: true });
  if (failed.length === 0) return false;
  traceLostAttempt(deps, job, 'failed');
  await followUp.follow(failed);
  return true;
}

/** Records the attempt of a worker that can no longer do so itself. */
function traceLostAttempt(
  { tracing = NO_TRACING, clock }: RepairedJobs,
  job: Job,
  outcome: 'retried' | 'failed',
): void {
  if (!tracing.on || job.trace === undefined) return;
  startAttemptSpan(tracing, job, job.trace).end({
    endTime: clock.now().getTime(),
    attributes: { 'platen.outcome': outcome, 'error.type': 'WORKER_LOST' },
    error: 'WORKER_LOST',
  });
}

/** The process died: jobs that it has not written were never accepted, and jobs that it has written are admitted. */
async function repairPositions(
  deps: RepairedJobs,
  accountId: string,
  id: string,
  { jobs, batchOf, quota, since, bytes = 0 }: PendingPositions,
  live: ReadonlyMap<string, Job>,
): Promise<boolean> {
  const { ledger, store, dispatch: jobDispatch } = deps;
  if (batchOf !== undefined) {
    if (await deps.keepsArrivalOf?.(id, batchOf)) return false;
    const undone = await ledger.undoPositions(accountId, id, batchOf, quota, since, bytes);
    if (undone !== undefined) await jobDispatch.serve(accountId, undone);
    return undone !== undefined;
  }
  const ended = await store.history.among(jobs.filter((jobId) => !live.has(jobId)));
  const missing = jobs.filter((jobId) => !live.has(jobId) && !ended.has(jobId));
  // Returning jobs have no bytes here; several new jobs share them about equally.
  const unused = Math.round((bytes * missing.length) / Math.max(1, jobs.length));
  const record = await ledger.undoPositions(accountId, id, missing.length, quota, since, unused);
  if (record === undefined) return false;
  await store.inputs.deleteAbandoned(missing, since);
  await jobDispatch.serve(accountId, record);
  return true;
}

/**
 * Jobs that are not live any more have been moved to the history, which is the last step but one. Jobs that ended at
 * their positions are an exception: they are moved when the head reaches them, whatever their step. The jobs are read
 * again, because the process that follows them up may be slow and not dead.
 */
async function finishEnds(
  { followUp, ledger, store }: RepairedJobs,
  accountId: string,
  jobIds: readonly string[],
): Promise<number> {
  const live = await store.live.among(jobIds);
  const named = (await ledger.find(accountId))?.ending ?? {};
  const gone = jobIds.filter((jobId) => !live.has(jobId) && jobId in named);
  const passed = (await store.history.some(gone)).filter(({ endedFrom }) => endedFrom === 'queued');
  const jobs = [...live.values(), ...passed];
  if (jobs.length > 0) await followUp.finish(jobs);
  const finished = new Set(passed.map(({ _id }) => _id));
  const moved = gone.filter((jobId) => !finished.has(jobId));
  if (moved.length > 0) await ledger.forgetEnded(accountId, moved);
  return jobs.length + moved.length;
}

function olderThan<T extends { readonly since: number }>(
  ageMs: number,
  named: Readonly<Record<string, T>>,
  times: FutureTimes,
): [string, T][] {
  return Object.entries(named).filter(([name, { since }]) => times.ageMs(name, since) >= ageMs);
}

function timed(named: Readonly<Record<string, number>> = {}): Record<string, { since: number }> {
  return Object.fromEntries(Object.entries(named).map(([id, since]) => [id, { since }]));
}
