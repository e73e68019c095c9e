import { createHash } from 'node:crypto';
import { KeyedMutex } from '../../infra/async/keyed-mutex.ts';
import { anywhere, type JobEvent, type JobPointer } from '../../infra/bus/bus.ts';
import type { Core } from '../../infra/core.ts';
import { type NamedPlan, type Plan, poolOf } from '../../tenants/plans/plan.ts';
import { hasEnded, type Job } from './job.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type NextInQueue, queuesAreEmpty, type SeenLedger } from './ledger/ledger-record.ts';
import { QueueHeads } from './queue-heads.ts';
import type { JobStore } from './store/job-store.ts';
import { isInRecord } from './store/stored-input.ts';

interface JobDispatchDeps extends Pick<Core, 'bus' | 'logger'> {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** Renders at a time in one worker of a pool; determines over how many workers an account's jobs are spread. */
  readonly slotsPerWorker: (pool: string) => number;
}

/** The most steps of one call: each gives a slot to a job, or passes over some positions. A sweep does the rest. */
const MAX_STEPS = 1000;

/** A job that has just got a slot, and has to be dispatched. */
interface Granted {
  readonly job: Job;
  readonly plan: Plan;
}

/** The slots that ended jobs have given back. */
interface FreedSlots {
  readonly ledger: SeenLedger;
  /** Jobs that have got these slots. */
  readonly granted: readonly Granted[];
}

/**
 * Gives free plan slots to the jobs at the heads of an account's queues, and notifies the workers. A job is published
 * only while it holds a slot: the bus carries only jobs that may run now, and no account's backlog delays other
 * accounts.
 */
export class JobDispatch {
  readonly #deps: JobDispatchDeps;
  readonly #heads: QueueHeads;
  /** By account: if two jobs end at the same moment in one process, their slots go to different jobs. */
  readonly #oneByOne = new KeyedMutex();

  constructor(deps: JobDispatchDeps) {
    this.#deps = deps;
    this.#heads = new QueueHeads(deps.store.live);
  }

  /**
   * Gives out an account's free slots, as long as there are any and jobs wait. Safe to run in several processes at
   * once.
   *
   * @param seen the account's ledger as read a moment ago; read from the database when absent.
   */
  async serve(accountId: string, seen?: SeenLedger): Promise<void> {
    const { ledger, planOf } = this.#deps;
    const record = seen ?? (await ledger.find(accountId));
    if (record === undefined || queuesAreEmpty(record)) return;
    const { plan } = await planOf(accountId);
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const step = await this.#oneByOne.run(accountId, () => this.#advance(accountId, plan));
      if (step === 'done') return;
      if (step !== 'again') await this.#begin([step]);
    }
  }

  /**
   * Jobs of one account have ended, all at their positions or all while they held slots: one update gives back what
   * they held, and gives their slots to the next waiting jobs, if there are any. `goOn` does the rest. After a crash in
   * between, a sweep finds a job with a slot by its name in the ledger.
   *
   * @returns undefined when one of the jobs was handled before.
   */
  async free(jobs: readonly Job[]): Promise<FreedSlots | undefined> {
    const { ledger } = this.#deps;
    const [{ accountId, endedFrom }] = jobs as [Job];
    if (endedFrom === 'queued' || this.#nobodyWaits(accountId)) return freed(await ledger.leave(jobs));
    return this.#oneByOne.run(accountId, async () => {
      // If the next job cannot be determined, the slots are given back nonetheless; `goOn` will meet the same error.
      const next = await this.#nextInQueue(accountId, jobs.length).catch(() => undefined);
      const left = next && (await ledger.leave(jobs, next));
      if (next && left) return freed(left, next.granted);
      return freed(await ledger.leave(jobs));
    });
  }

  /** Dispatches the jobs that have got slots, and gives out the remaining free slots. */
  async goOn({ ledger, granted }: FreedSlots): Promise<void> {
    await this.#begin(granted);
    await this.serve(ledger._id, ledger);
  }

  /** Remembers jobs that have just been put at their positions. */
  expect(placed: readonly Job[]): void {
    this.#heads.expect(placed);
  }

  /**
   * Notifies the workers of a dispatched job. A sweep publishes a lost pointer again.
   *
   * @param plan the account's plan.
   * @param again for a job that no worker has claimed: the workers of its account's partition may be busy.
   */
  publish(job: Job, plan: Plan, again = false): void {
    const { bus, ledger, logger, slotsPerWorker } = this.#deps;
    const inFlight = ledger.lastSeen(job.accountId)?.inFlight ?? plan.concurrentRenders;
    const key = `${job.accountId}:${shardOf(job._id, inFlight, slotsPerWorker(job.pool))}`;
    const pointer: JobPointer = {
      jobId: job._id,
      version: job.version,
      pool: job.pool,
      class: job.class,
      routingKey: again ? anywhere(key, `${job._id}.${job.updatedAt.getTime()}`) : key,
      ...(!isInRecord(job) && { ownInput: true }),
    };
    bus.publishPointer(pointer).catch((error: unknown) => {
      logger.warn({ err: error, jobId: job._id }, 'pointer not published; a sweep will do it');
    });
  }

  /** Notifies the processes that an event of a job concerns. A hint, which may be lost. */
  report(event: JobEvent): void {
    const { bus, logger } = this.#deps;
    bus.publishEvent(event).catch((error: unknown) => {
      logger.debug({ err: error, jobId: event.jobId }, 'event not published');
    });
  }

  /** queued → dispatched, for jobs of one version with slots. @returns those; the others have ended meanwhile. */
  async dispatch(jobs: readonly Job[], plan: Plan): Promise<Job[]> {
    const dispatched = await this.#deps.store.transitions.dispatch(jobs, poolOf(plan));
    for (const job of dispatched) this.publish(job, plan);
    return dispatched;
  }

  /**
   * Moves jobs that ended at their positions to the history, when the head has reached or passed the positions. Until
   * then the positions must not become empty: an empty position may be that of a job that has not been written yet.
   */
  async clearPositions(jobs: readonly Job[]): Promise<void> {
    await this.#deps.store.history.take(jobs);
  }

  #nobodyWaits(accountId: string): boolean {
    const seen = this.#deps.ledger.lastSeen(accountId);
    return seen === undefined || queuesAreEmpty(seen);
  }

  /** The next jobs for `slots` slots that are being given back, or fewer jobs; undefined when there are none. */
  async #nextInQueue(
    accountId: string,
    slots: number,
  ): Promise<(NextInQueue & { readonly granted: readonly Granted[] }) | undefined> {
    const { ledger, planOf } = this.#deps;
    const { plan } = await planOf(accountId);
    const seen = ledger.lastSeen(accountId);
    const cap = plan.concurrentRenders;
    if (seen === undefined || seen.inFlight > cap) return undefined;
    const head = await this.#heads.next(seen);
    if (head === undefined) return undefined;
    const waiting = this.#heads.behind(head, accountId, slots);
    const [first] = waiting;
    if (first === undefined) return undefined;
    // Jobs that have waited since their admission all have the same version, so they can be dispatched together.
    const alike = waiting.filter(({ version }, i) => i === 0 || version === first.version);
    const jobs = alike.length === waiting.length ? waiting : [first];
    const granted = jobs.map((job) => ({ job, plan }));
    return { queue: head.queue, head: head.number, jobs, cap, seen, granted };
  }

  /** @returns the job at a head with its slot; `done` when no slot is free or no job waits. Passes over ended jobs. */
  async #advance(accountId: string, plan: Plan): Promise<Granted | 'again' | 'done'> {
    const { ledger } = this.#deps;
    const record = ledger.lastSeen(accountId) ?? (await ledger.find(accountId));
    const cap = plan.concurrentRenders;
    if (record === undefined || record.inFlight >= cap) return 'done';
    const head = await this.#heads.next(record);
    if (head === undefined) return 'done';
    const { queue, number, job, ended } = head;
    const waits = job !== undefined && !hasEnded(job.state);
    if (!waits) await this.clearPositions(ended);
    const moved = waits
      ? await ledger.takeNext(accountId, queue, job, { head: number, cap })
      : await ledger.passOver(accountId, queue, number, Math.max(1, ended.length));
    if (moved === undefined) ledger.forgetSeen(accountId);
    return moved !== undefined && waits ? { job, plan } : 'again';
  }

  /** Dispatches jobs that have got slots, and takes the slots back from jobs that ended before they got them. */
  async #begin(granted: readonly Granted[]): Promise<void> {
    const [first] = granted;
    if (first === undefined) return;
    const jobs = granted.map(({ job }) => job);
    const dispatched = await this.dispatch(jobs, first.plan);
    const begun = new Set(dispatched.map(({ _id }) => _id));
    for (const job of jobs) if (!begun.has(job._id)) await this.#takeBack(job);
  }

  /** Takes the slot back from a job that ended after it was read at the head and before it got the slot. */
  async #takeBack(job: Job): Promise<void> {
    const { ledger, store } = this.#deps;
    const now = await store.live.find(job._id);
    // A sweep has taken this process for dead and has dispatched the job: then the slot belongs to the job.
    if (now !== undefined && now.endedFrom !== 'queued') return;
    if (now !== undefined) await this.clearPositions([now]);
    await ledger.backToWaiting(job.accountId, job._id);
  }
}

function freed(ledger: SeenLedger | undefined, granted: readonly Granted[] = []): FreedSlots | undefined {
  return ledger && { ledger, granted };
}

/** Renders of one account that keep the smallest worker busy; a further one can compute in another worker. */
const RENDERS_TOGETHER = 2;

/**
 * Spreads an account's jobs over as many workers as they can keep busy at the moment, and no more: each worker has to
 * make a context for the account, and reuses it for the next job. An account with few jobs stays with one worker.
 */
function shardOf(jobId: string, inFlight: number, slotsPerWorker: number): number {
  const shards = Math.max(1, Math.ceil(inFlight / Math.min(slotsPerWorker, RENDERS_TOGETHER)));
  return createHash('sha1').update(jobId).digest().readUInt32BE(0) % shards;
}
