import type { Clock } from '../../clock.ts';
import { type ErrorCode, PlatenError } from '../../errors/registry.ts';
import { type NamedPlan, poolOf } from '../../plans/plan.ts';
import { finalisingName, hasEnded, type Job, jobOfFinalising } from '../job.ts';
import type { JobDispatch } from '../job-dispatch.ts';
import type { JobEnds } from '../job-ends.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Arrival, LedgerRecord, SlotHolder } from '../ledger/ledger-record.ts';
import type { Retries } from '../retries.ts';
import { decideRetry } from '../retry-policy.ts';
import type { JobStore } from '../store/job-store.ts';

export interface NamedJobsDeps {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly dispatch: JobDispatch;
  readonly retries: Retries;
  readonly ends: JobEnds;
  readonly clock: Clock;
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** Milliseconds without a claim after which the pointer of a dispatched job is published again. */
  readonly redeliveryMs: number;
  /** First back-off between attempts, in milliseconds. */
  readonly retryBaseMs: number;
  readonly random: () => number;
  /**
   * Whether a batch is durable whose admission was begun a while ago: its jobs are still to be written then. When it is not,
   * what was written for it is deleted, and its positions are given back.
   */
  readonly keepsArrivalOf?: (batchId: string, items: number) => Promise<boolean>;
  /** Called for every attempt that will be repeated. */
  readonly onRetried: (code: ErrorCode) => void;
}

/** A process that is between two steps takes moments; one that has taken this long, in milliseconds, is dead. */
const DEAD_MS = 10_000;
/** The ordinary way of following up the end of a job takes a quarter of a second. */
const UNFOLLOWED_MS = 5000;
/** A process that is about to end a waiting job decides in moments; its name for the job must not be withdrawn meanwhile. */
const UNDECIDED_MS = 60_000;

/**
 * Checks every job that a ledger names, and does what the process that named it did not get to: one that died between two
 * steps, a worker that was lost, a pointer that did not arrive.
 *
 * @param ledgers of the accounts that have something to check.
 * @returns how many things were put right.
 */
export async function repairNamedJobs(
  deps: NamedJobsDeps,
  ledgers: readonly LedgerRecord[],
): Promise<number> {
  const now = deps.clock.now().getTime();
  const live = await deps.store.live.among(ledgers.flatMap((ledger) => namedIn(ledger, now)));
  let repaired = 0;
  for (const ledger of ledgers) {
    const accountId = ledger._id;
    for (const [jobId, holder] of Object.entries(ledger.holders ?? {})) {
      repaired += Number(await repairHolder(deps, { accountId, jobId, holder, job: live.get(jobId), now }));
    }
    for (const [id, arrival] of olderThan(DEAD_MS, ledger.arriving ?? {}, now)) {
      repaired += Number(await repairArrival(deps, accountId, id, arrival, live));
    }
    for (const [name, { since }] of olderThan(UNFOLLOWED_MS, timed(ledger.leaving), now)) {
      const jobId = jobOfFinalising(name);
      // The head may have reached it meanwhile: then it has been moved from its position (JobDispatch.clearPositions).
      const job = live.get(jobId) ?? (await deps.store.history.find(jobId));
      if (job !== undefined && hasEnded(job.state) && finalisingName(job) === name) {
        repaired += Number(await deps.ends.follow([job]));
      } else if (now - since > UNDECIDED_MS) {
        await deps.ledger.withdrawEnds(accountId, name);
      }
    }
    const unfollowed = olderThan(UNFOLLOWED_MS, timed(ledger.ending), now).map(([jobId]) => jobId);
    if (unfollowed.length > 0) repaired += await finishEnds(deps, accountId, unfollowed);
  }
  return repaired;
}

/** The jobs that have to be checked. */
function namedIn(ledger: LedgerRecord, now: number): string[] {
  return [
    ...Object.keys(ledger.holders ?? {}),
    ...olderThan(DEAD_MS, ledger.arriving ?? {}, now).flatMap(([, { jobs }]) => jobs),
    ...olderThan(UNFOLLOWED_MS, timed(ledger.leaving), now).map(([name]) => jobOfFinalising(name)),
    ...olderThan(UNFOLLOWED_MS, timed(ledger.ending), now).map(([id]) => id),
  ];
}

interface Held {
  readonly accountId: string;
  readonly jobId: string;
  readonly holder: SlotHolder;
  /** Undefined when it is not live. */
  readonly job: Job | undefined;
  readonly now: number;
}

/** @returns whether something was put right. */
async function repairHolder(deps: NamedJobsDeps, held: Held): Promise<boolean> {
  const { job, now, holder } = held;
  const dead = now - holder.since > DEAD_MS;
  if (job === undefined) return dead && (await freeUnusedSlot(deps, held));
  switch (job.state) {
    case 'dispatched':
      return publishAgain(deps, job, now);
    case 'processing':
      return endLostAttempt(deps, job, now);
    case 'queued':
      if (!dead) return false;
      // Between the slot and the dispatch, or between the end of its attempt and the release of its slot.
      // The slot that was seen: meanwhile the job may have come back and have another.
      if (job.place === undefined) return deps.retries.releaseSlot(job, holder.since);
      return (await deps.dispatch.dispatch([job], (await deps.planOf(job.accountId)).plan)).length > 0;
    default:
      if (now - job.updatedAt.getTime() < UNFOLLOWED_MS) return false;
      return job.endedFrom !== 'queued' ? deps.ends.follow([job]) : undoDispatch(deps, job, holder.since);
  }
}

/** Its process died before it had written the job; or the job ended long ago, and its slot was taken twice. */
async function freeUnusedSlot(deps: NamedJobsDeps, { accountId, jobId, holder }: Held): Promise<boolean> {
  const ended = await deps.store.history.find(jobId);
  const { quota, bytes, since } = holder;
  const { ledger } = deps;
  const freed =
    ended === undefined
      ? await ledger.undoSlot(accountId, jobId, quota, since, bytes)
      : await ledger.undoSlot(accountId, jobId, undefined, since);
  if (freed === undefined) return false;
  if (ended === undefined) await deps.store.inputs.delete([jobId]);
  await deps.dispatch.serve(accountId, freed);
  return true;
}

/** It ended while it was being given its slot, and the process that gave it died before it could take it back. */
async function undoDispatch(
  { ledger, dispatch: jobDispatch }: NamedJobsDeps,
  job: Job,
  since: number,
): Promise<boolean> {
  await jobDispatch.clearPositions([job]);
  const freed = await ledger.backToWaiting(job.accountId, job._id, since);
  if (freed !== undefined) await jobDispatch.serve(job.accountId, freed);
  return freed !== undefined;
}

/** The message may be lost, or the pool that it went to has no workers any more: the plan names the pool that has. */
async function publishAgain(deps: NamedJobsDeps, job: Job, now: number): Promise<boolean> {
  if (now - job.updatedAt.getTime() < deps.redeliveryMs) return false;
  const { plan } = await deps.planOf(job.accountId);
  const pool = poolOf(plan);
  // Touching it spaces the messages; a claim in between makes the update miss.
  if (!(await deps.store.live.touch(job, pool, new Date(now)))) return false;
  deps.dispatch.publish({ ...job, pool }, plan, true);
  return true;
}

/** Takes a job from a worker that has stopped renewing its lease: to be tried again, or failed. */
async function endLostAttempt(deps: NamedJobsDeps, job: Job, now: number): Promise<boolean> {
  if (job.leaseExpiresAt === null || job.leaseExpiresAt.getTime() > now) return false;
  const { retries, store, ends, retryBaseMs, random, onRetried } = deps;
  const error = new PlatenError('WORKER_LOST');
  const decision = decideRetry(job, error, retryBaseMs, random);
  if (decision.kind === 'retry') {
    const retried = await retries.retryLater(job, error, decision.delayMs, true);
    if (retried) onRetried(error.code);
    return retried;
  }
  const failed = await store.transitions.fail([job], error, { onlyIfLeaseEnded: true });
  if (failed.length === 0) return false;
  await ends.follow(failed);
  return true;
}

/** Its process died: what it has not written was never accepted, and what it has written is admitted. */
async function repairArrival(
  deps: NamedJobsDeps,
  accountId: string,
  id: string,
  { jobs, batchOf, quota, since, bytes = 0 }: Arrival,
  live: ReadonlyMap<string, Job>,
): Promise<boolean> {
  const { ledger, store, dispatch: jobDispatch } = deps;
  if (batchOf !== undefined) {
    if (await deps.keepsArrivalOf?.(id, batchOf)) return false;
    const undone = await ledger.undoArrival(accountId, id, batchOf, quota, since, bytes);
    if (undone !== undefined) await jobDispatch.serve(accountId, undone);
    return undone !== undefined;
  }
  const ended = await store.history.among(jobs.filter((jobId) => !live.has(jobId)));
  const missing = jobs.filter((jobId) => !live.has(jobId) && !ended.has(jobId));
  // Jobs that come back have brought nothing, and several new ones have brought about as much each.
  const unused = Math.round((bytes * missing.length) / Math.max(1, jobs.length));
  const record = await ledger.undoArrival(accountId, id, missing.length, quota, since, unused);
  if (record === undefined) return false;
  await store.inputs.delete(missing);
  await jobDispatch.serve(accountId, record);
  return true;
}

/**
 * Jobs that are not live any more have been moved to the history, which is the last step but one; except jobs that ended at
 * their positions, which are moved when the head reaches them, whatever step they are at. They are looked up anew: the
 * process that follows them up may be slow, and not dead.
 */
async function finishEnds(
  { ends, ledger, store }: NamedJobsDeps,
  accountId: string,
  jobIds: readonly string[],
): Promise<number> {
  const live = await store.live.among(jobIds);
  const named = (await ledger.find(accountId))?.ending ?? {};
  const gone = jobIds.filter((jobId) => !live.has(jobId) && jobId in named);
  const passed = (await store.history.some(gone)).filter(({ endedFrom }) => endedFrom === 'queued');
  const jobs = [...live.values(), ...passed];
  if (jobs.length > 0) await ends.finish(jobs);
  const finished = new Set(passed.map(({ _id }) => _id));
  const moved = gone.filter((jobId) => !finished.has(jobId));
  if (moved.length > 0) await ledger.forgetEnded(accountId, moved);
  return jobs.length + moved.length;
}

function olderThan<T extends { readonly since: number }>(
  ageMs: number,
  named: Readonly<Record<string, T>>,
  now: number,
): [string, T][] {
  return Object.entries(named).filter(([, { since }]) => now - since >= ageMs);
}

function timed(named: Readonly<Record<string, number>> = {}): Record<string, { since: number }> {
  return Object.fromEntries(Object.entries(named).map(([id, since]) => [id, { since }]));
}
