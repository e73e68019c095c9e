import { createHash } from 'node:crypto';
import { KeyedMutex } from '../async/keyed-mutex.ts';
import { anywhere, type Bus, type JobEvent, type JobPointer } from '../bus/bus.ts';
import { type NamedPlan, type Plan, poolOf } from '../plans/plan.ts';
import type { Logger } from '../telemetry/logger.ts';
import { hasEnded, type Job } from './job.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type NextInQueue, queuesAreEmpty, type SeenLedger } from './ledger/ledger-record.ts';
import { QueueHeads } from './queue-heads.ts';
import type { JobStore } from './store/job-store.ts';

export interface JobDispatchDeps {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly bus: Bus;
  readonly logger: Logger;
  /** The plan that an account has now. */
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** Renders at a time in one worker of a pool: over how many workers an account's jobs are spread follows from it. */
  readonly slotsPerWorker: (pool: string) => number;
}

/** Steps of one call at most: each hands one slot on, or passes over some positions. A sweep goes on. */
const MAX_STEPS = 1000;

/** A job that has just got a slot, and is to be dispatched. */
interface Granted {
  readonly job: Job;
  readonly plan: Plan;
}

/** What has become of the slots of jobs that have ended. */
export interface FreedSlots {
  readonly ledger: SeenLedger;
  /** The jobs that have them now. */
  readonly granted: readonly Granted[];
}

/**
 * Gives free plan slots to the jobs at the heads of an account's queues, and notifies the workers. A job is published only
 * while it holds a slot, so the bus carries only what may run now, and no account's backlog stands before another's work.
 */
export class JobDispatch {
  readonly #deps: JobDispatchDeps;
  readonly #heads: QueueHeads;
  /** By account: of two jobs that end at the same moment in one process, each gives its slot to another job. */
  readonly #oneByOne = new KeyedMutex();

  constructor(deps: JobDispatchDeps) {
    this.#deps = deps;
    this.#heads = new QueueHeads(deps.store.live);
  }

  /**
   * Gives out an account's free slots, for as long as there are any and jobs wait. Safe to run in several processes at
   * once.
   *
   * @param seen the account's ledger as it was a moment ago; looked up when absent.
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
   * Jobs of one account have ended, all at their positions or all while they held slots: they give back what they held, in
   * one update. Where others wait, slots go to the next of them in the same update, and `goOn` has the rest; after a crash
   * in between, a sweep finds a job that has a slot by its name in the ledger.
   *
   * @returns undefined when that has been done before for one of them.
   */
  async free(jobs: readonly Job[]): Promise<FreedSlots | undefined> {
    const { ledger } = this.#deps;
    const [{ accountId, endedFrom }] = jobs as [Job];
    if (endedFrom === 'queued' || this.#nobodyWaits(accountId)) return freed(await ledger.leave(jobs));
    return this.#oneByOne.run(accountId, async () => {
      // Whatever keeps us from knowing which job is next, these have ended; `goOn` will meet the same error.
      const next = await this.#nextInQueue(accountId, jobs.length).catch(() => undefined);
      const left = next && (await ledger.leave(jobs, next));
      if (next && left) return freed(left, next.granted);
      return freed(await ledger.leave(jobs));
    });
  }

  /** Dispatches the jobs that got slots, and gives out the other free slots. */
  async goOn({ ledger, granted }: FreedSlots): Promise<void> {
    await this.#begin(granted);
    await this.serve(ledger._id, ledger);
  }

  /** Notes that jobs have just been put at their positions. */
  expect(placed: readonly Job[]): void {
    this.#heads.expect(placed);
  }

  /**
   * Notifies the workers of a dispatched job. A pointer that does not arrive is published again by a sweep.
   *
   * @param plan the account's.
   * @param again for a job that no worker has claimed: there may be no room at the partition of its account.
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
    };
    bus.publishPointer(pointer).catch((error: unknown) => {
      logger.warn({ err: error, jobId: job._id }, 'pointer not published; a sweep will do it');
    });
  }

  /** Notifies every process of what has happened to a job. A hint, which may be lost. */
  report(event: JobEvent): void {
    const { bus, logger } = this.#deps;
    bus.publishEvent(event).catch((error: unknown) => {
      logger.debug({ err: error, jobId: event.jobId }, 'event not published');
    });
  }

  /**
   * queued → dispatched, for jobs of one version that have been given slots.
   *
   * @returns the jobs that are dispatched; the others have ended meanwhile.
   */
  async dispatch(jobs: readonly Job[], plan: Plan): Promise<Job[]> {
    const dispatched = await this.#deps.store.transitions.dispatch(jobs, poolOf(plan));
    for (const job of dispatched) this.publish(job, plan);
    return dispatched;
  }

  /**
   * Moves jobs that ended at their positions, when the head has reached or passed these. Until then the positions must not
   * look empty, like those of jobs that are still to be written.
   */
  async clearPositions(jobs: readonly Job[]): Promise<void> {
    await this.#deps.store.history.take(jobs);
  }

  #nobodyWaits(accountId: string): boolean {
    const seen = this.#deps.ledger.lastSeen(accountId);
    return seen === undefined || queuesAreEmpty(seen);
  }

  /** The jobs that would get `slots` slots which are given back now, or fewer; undefined when none would. */
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
    // Jobs that have waited since they were admitted all have the same version: they can be dispatched together.
    const alike = waiting.filter(({ version }, i) => i === 0 || version === first.version);
    const jobs = alike.length === waiting.length ? waiting : [first];
    const granted = jobs.map((job) => ({ job, plan }));
    return { queue: head.queue, head: head.number, jobs, cap, seen, granted };
  }

  /**
   * Gives a slot to the job at a head, or passes over jobs that have ended there.
   *
   * @returns the job that has got one; `done` when no slot is free or no job is next.
   */
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

  /** From a job that has not been dispatched: it ended after it was seen at the head and before it got the slot. */
  async #takeBack(job: Job): Promise<void> {
    const { ledger, store } = this.#deps;
    const now = await store.live.find(job._id);
    // A sweep that took this process for dead has dispatched it: then the slot is its own.
    if (now !== undefined && now.endedFrom !== 'queued') return;
    if (now !== undefined) await this.clearPositions([now]);
    await ledger.backToWaiting(job.accountId, job._id);
  }
}

function freed(ledger: SeenLedger | undefined, granted: readonly Granted[] = []): FreedSlots | undefined {
  return ledger && { ledger, granted };
}

/** Renders of one account that keep the smallest worker busy: past that another one computes concurrently. */
const RENDERS_TOGETHER = 2;

/**
 * Spreads an account's jobs over as many workers as they can keep busy at the moment, and no more: each of them has to
 * make a context for the account, and finds it warm the next time. With little to do an account stays with one worker.
 */
function shardOf(jobId: string, inFlight: number, slotsPerWorker: number): number {
  const shards = Math.max(1, Math.ceil(inFlight / Math.min(slotsPerWorker, RENDERS_TOGETHER)));
  return createHash('sha1').update(jobId).digest().readUInt32BE(0) % shards;
}
