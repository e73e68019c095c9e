import type { Clock } from '../../clock.ts';
import { type ErrorCode, PlatenError } from '../../errors/registry.ts';
import { type NamedPlan, poolOf } from '../../plans/plan.ts';
import type { HandOver } from '../hand-over.ts';
import { hasEnded, type Job, jobOfLeaving, leavingName } from '../job.ts';
import type { JobEnds } from '../job-ends.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Arrival, LedgerRecord, SlotHolder } from '../ledger/ledger-record.ts';
import type { Retries } from '../retries.ts';
import { decideRetry } from '../retry-policy.ts';
import type { JobStore } from '../store/job-store.ts';

export interface NamedJobsParts {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly handOver: HandOver;
  readonly retries: Retries;
  readonly ends: JobEnds;
  readonly clock: Clock;
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** After so many milliseconds without a claim, the pointer of a dispatched job is published again. */
  readonly redeliveryMs: number;
  /** First back-off between attempts, in milliseconds. */
  readonly retryBaseMs: number;
  readonly random: () => number;
  /**
   * Asked about the places of a batch whose admission has not been heard of for a while: true when the batch is durable,
   * and its jobs are on their way. When it is not, what was written for it is deleted, and its places are given back.
   */
  readonly keepsArrivalOf?: (batchId: string, items: number) => Promise<boolean>;
  /** Told of every attempt that will be repeated. */
  readonly onRetried: (code: ErrorCode) => void;
}

/** A process that is between two steps takes moments; one that has taken this long, in milliseconds, is dead. */
const DEAD_MS = 10_000;
/** The ordinary way of following up the end of a job takes a quarter of a second. */
const UNFOLLOWED_MS = 5000;
/** Who is about to end a job that waits decides in moments; its mark must not be taken from it. */
const UNDECIDED_MS = 60_000;

/**
 * Looks at every job that a ledger names, and does what whoever put its name there did not get to: a process that died
 * between two steps, a worker that was lost, a pointer that did not arrive.
 *
 * @param ledgers of the accounts that have something to look after.
 * @returns how many things were put right.
 */
export async function repairNamedJobs(
  parts: NamedJobsParts,
  ledgers: readonly LedgerRecord[],
): Promise<number> {
  const now = parts.clock.now().getTime();
  const live = await parts.store.live.among(ledgers.flatMap((ledger) => namedIn(ledger, now)));
  let repaired = 0;
  for (const ledger of ledgers) {
    const accountId = ledger._id;
    for (const [jobId, holder] of Object.entries(ledger.holders ?? {})) {
      repaired += Number(await repairHolder(parts, { accountId, jobId, holder, job: live.get(jobId), now }));
    }
    for (const [id, arrival] of olderThan(DEAD_MS, ledger.arriving ?? {}, now)) {
      repaired += Number(await repairArrival(parts, accountId, id, arrival, live));
    }
    for (const [name, { since }] of olderThan(UNFOLLOWED_MS, timed(ledger.leaving), now)) {
      const jobId = jobOfLeaving(name);
      // Its turn may have come meanwhile: then it has been moved from its place (HandOver.clearPlaces).
      const job = live.get(jobId) ?? (await parts.store.history.find(jobId));
      if (job !== undefined && hasEnded(job.state) && leavingName(job) === name) {
        repaired += Number(await parts.ends.follow(job));
      } else if (now - since > UNDECIDED_MS) {
        await parts.ledger.withdrawLeaving(accountId, name);
      }
    }
    const unfollowed = olderThan(UNFOLLOWED_MS, timed(ledger.ending), now).map(([jobId]) => jobId);
    if (unfollowed.length > 0) repaired += await finishEnds(parts, accountId, unfollowed);
  }
  return repaired;
}

/** The jobs that have to be looked at. */
function namedIn(ledger: LedgerRecord, now: number): string[] {
  return [
    ...Object.keys(ledger.holders ?? {}),
    ...olderThan(DEAD_MS, ledger.arriving ?? {}, now).flatMap(([, { jobs }]) => jobs),
    ...olderThan(UNFOLLOWED_MS, timed(ledger.leaving), now).map(([name]) => jobOfLeaving(name)),
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
async function repairHolder(parts: NamedJobsParts, held: Held): Promise<boolean> {
  const { job, now, holder } = held;
  const dead = now - holder.since > DEAD_MS;
  if (job === undefined) return dead && (await freeUnusedSlot(parts, held));
  switch (job.state) {
    case 'dispatched':
      return publishAgain(parts, job, now);
    case 'processing':
      return endLostAttempt(parts, job, now);
    case 'queued':
      if (!dead) return false;
      // Between the slot and the dispatch, or between the end of its attempt and the release of its slot.
      // The slot that was seen: meanwhile the job may have come back and have another.
      if (job.place === undefined) return parts.retries.releaseSlot(job, holder.since);
      return parts.handOver.dispatch(job, (await parts.planOf(job.accountId)).plan);
    default:
      if (now - job.updatedAt.getTime() < UNFOLLOWED_MS) return false;
      return job.endedFrom !== 'queued' ? parts.ends.follow(job) : undoHandOver(parts, job, holder.since);
  }
}

/** Its process died before it had written the job; or the job ended long ago, and its slot was taken twice. */
async function freeUnusedSlot(parts: NamedJobsParts, { accountId, jobId, holder }: Held): Promise<boolean> {
  const ended = await parts.store.history.find(jobId);
  const { quota, bytes, since } = holder;
  const { ledger } = parts;
  const freed =
    ended === undefined
      ? await ledger.undoSlot(accountId, jobId, quota, since, bytes)
      : await ledger.undoSlot(accountId, jobId, undefined, since);
  if (freed === undefined) return false;
  if (ended === undefined) await parts.store.inputs.delete([jobId]);
  await parts.handOver.serve(accountId, freed);
  return true;
}

/** It ended while it was being given its slot, and who gave it died before it could take it back. */
async function undoHandOver({ ledger, handOver }: NamedJobsParts, job: Job, since: number): Promise<boolean> {
  await handOver.clearPlaces([job]);
  const freed = await ledger.backToWaiting(job.accountId, job._id, since);
  if (freed !== undefined) await handOver.serve(job.accountId, freed);
  return freed !== undefined;
}

/** The message may be lost, or the pool that it went to has no workers any more: the plan names the pool that has. */
async function publishAgain(parts: NamedJobsParts, job: Job, now: number): Promise<boolean> {
  if (now - job.updatedAt.getTime() < parts.redeliveryMs) return false;
  const { plan } = await parts.planOf(job.accountId);
  const pool = poolOf(plan);
  // Touching it spaces the messages; a claim in between makes the update miss.
  if (!(await parts.store.live.touch(job, pool, new Date(now)))) return false;
  parts.handOver.publish({ ...job, pool }, plan, true);
  return true;
}

/** Takes a job from a worker that has stopped renewing its lease: to be tried again, or failed. */
async function endLostAttempt(parts: NamedJobsParts, job: Job, now: number): Promise<boolean> {
  if (job.leaseExpiresAt === null || job.leaseExpiresAt.getTime() > now) return false;
  const { retries, store, ends, retryBaseMs, random, onRetried } = parts;
  const error = new PlatenError('WORKER_LOST');
  const decision = decideRetry(job, error, retryBaseMs, random);
  if (decision.kind === 'retry') {
    const retried = await retries.retryLater(job, error, decision.delayMs, true);
    if (retried) onRetried(error.code);
    return retried;
  }
  const failed = await store.transitions.fail(job, error, true);
  if (failed === undefined) return false;
  await ends.follow(failed);
  return true;
}

/** Its process died: what it has not written was never accepted, and what it has written is let in. */
async function repairArrival(
  parts: NamedJobsParts,
  accountId: string,
  id: string,
  { jobs, batchOf, quota, since, bytes = 0 }: Arrival,
  live: ReadonlyMap<string, Job>,
): Promise<boolean> {
  const { ledger, store, handOver } = parts;
  if (batchOf !== undefined) {
    if (await parts.keepsArrivalOf?.(id, batchOf)) return false;
    const undone = await ledger.undoArrival(accountId, id, batchOf, quota, since, bytes);
    if (undone !== undefined) await handOver.serve(accountId, undone);
    return undone !== undefined;
  }
  const ended = await store.history.among(jobs.filter((jobId) => !live.has(jobId)));
  const missing = jobs.filter((jobId) => !live.has(jobId) && !ended.has(jobId));
  // Those that come back have brought nothing, and of several that are new each has about its share.
  const unused = Math.round((bytes * missing.length) / Math.max(1, jobs.length));
  const record = await ledger.undoArrival(accountId, id, missing.length, quota, since, unused);
  if (record === undefined) return false;
  await store.inputs.delete(missing);
  await handOver.serve(accountId, record);
  return true;
}

/**
 * Those that are not live any more have been moved to the history, which is the last step but one; save those that ended
 * at their places, which are moved when their turn comes, wherever the steps are. They are looked for anew: who follows
 * them up may be slow, and not dead.
 */
async function finishEnds(
  { ends, ledger, store }: NamedJobsParts,
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
