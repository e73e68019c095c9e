import { createHash } from 'node:crypto';
import { KeyedMutex } from '../async/keyed-mutex.ts';
import { anywhere, type Bus, type JobEvent, type JobPointer } from '../bus/bus.ts';
import { type NamedPlan, type Plan, poolOf } from '../plans/plan.ts';
import type { Logger } from '../telemetry/logger.ts';
import { hasEnded, type Job } from './job.ts';
import { LaneHeads } from './lane-heads.ts';
import type { Ledger } from './ledger/ledger.ts';
import { lanesAreEmpty, type NextInLane, type SeenLedger } from './ledger/ledger-record.ts';
import type { JobStore } from './store/job-store.ts';

export interface HandOverParts {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly bus: Bus;
  readonly logger: Logger;
  /** The plan that an account has now. */
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** Renders at a time in one worker of a pool: over how many workers an account's jobs are spread follows from it. */
  readonly slotsPerWorker: (pool: string) => number;
}

/** Steps of one call at most: each hands one slot on, or passes over some places. A sweep goes on. */
const MAX_STEPS = 1000;

/** A job that holds a slot since a moment ago, and is to be dispatched. */
interface Granted {
  readonly job: Job;
  readonly plan: Plan;
}

/** What has become of the slots of jobs that have ended. */
export interface FreedSlots {
  readonly ledger: SeenLedger;
  /** Who have them now. */
  readonly granted: readonly Granted[];
}

/**
 * Hands plan slots that are free to those at the heads of an account's lanes, and tells the workers. A job is published
 * only while it holds a slot, so the bus carries only what may run now, and no account's backlog stands before another
 * account's work.
 */
export class HandOver {
  readonly #parts: HandOverParts;
  readonly #heads: LaneHeads;
  /** By account: of two that end at the same moment in one process, each hands its slot to another. */
  readonly #oneByOne = new KeyedMutex();

  constructor(parts: HandOverParts) {
    this.#parts = parts;
    this.#heads = new LaneHeads(parts.store.live);
  }

  /**
   * Hands out an account's free slots, for as long as there are any and somebody waits. Safe to run in several processes
   * at once.
   *
   * @param seen the account's ledger as it was a moment ago; looked up when absent.
   */
  async serve(accountId: string, seen?: SeenLedger): Promise<void> {
    const { ledger, planOf } = this.#parts;
    const record = seen ?? (await ledger.find(accountId));
    if (record === undefined || lanesAreEmpty(record)) return;
    const { plan } = await planOf(accountId);
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const step = await this.#oneByOne.run(accountId, () => this.#advance(accountId, plan));
      if (step === 'done') return;
      if (step !== 'again') await this.#begin(step);
    }
  }

  /**
   * A job has ended: it gives back what it held. Where others wait its slot goes to the next of them in the same update,
   * and `goOn` has the rest; after a crash in between, a sweep finds the job that has the slot by its name in the ledger.
   *
   * @returns undefined when that has been done before.
   */
  async free(job: Job): Promise<FreedSlots | undefined> {
    const { ledger } = this.#parts;
    const { accountId } = job;
    if (this.#nobodyWaits(accountId) || job.endedFrom === 'queued') return freed(await ledger.leave(job));
    return this.#oneByOne.run(accountId, async () => {
      // Whatever keeps us from knowing who is next, the job has ended; `goOn` will meet the same trouble.
      const next = await this.#nextInLane(accountId, 1).catch(() => undefined);
      const left = next && (await ledger.leave(job, next));
      if (next && left) return freed(left, next.granted);
      return freed(await ledger.leave(job));
    });
  }

  /**
   * `free` for jobs of one account that have ended while they held slots, in one update.
   *
   * @returns undefined when the ledger is not what it was thought to be, and nothing has changed: then each is to be freed
   * by itself.
   */
  async freeAll(jobs: readonly Job[]): Promise<FreedSlots | undefined> {
    const { ledger } = this.#parts;
    const [{ accountId }] = jobs as [Job];
    if (this.#nobodyWaits(accountId)) return freed(await ledger.leaveAll(jobs));
    return this.#oneByOne.run(accountId, async () => {
      const next = await this.#nextInLane(accountId, jobs.length).catch(() => undefined);
      return freed(await ledger.leaveAll(jobs, next), next?.granted);
    });
  }

  /**
   * `free` for jobs of one account that have ended while they waited, in one update.
   *
   * @returns undefined when that has been done before for one of them: then each is to be freed by itself.
   */
  async freePlaces(jobs: readonly Job[]): Promise<FreedSlots | undefined> {
    return freed(await this.#parts.ledger.leavePlaces(jobs));
  }

  /** Dispatches who got slots of jobs that have ended, and hands out what else is free. */
  async goOn({ ledger, granted }: FreedSlots): Promise<void> {
    const [first] = granted;
    if (granted.length > 1) await this.#beginAll(granted);
    else if (first !== undefined) await this.#begin(first);
    await this.serve(ledger._id, ledger);
  }

  /** Says that jobs have just been put at their places. */
  expect(placed: readonly Job[]): void {
    this.#heads.expect(placed);
  }

  /**
   * Tells the workers of a dispatched job. A pointer that does not arrive is published again by a sweep.
   *
   * @param plan the account's.
   * @param again for one that nobody has claimed: where its account's others go there may be no room.
   */
  publish(job: Job, plan: Plan, again = false): void {
    const { bus, ledger, logger, slotsPerWorker } = this.#parts;
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

  /** Tells whoever listens that something has happened to a job. A hint, which may be lost. */
  tell(event: JobEvent): void {
    const { bus, logger } = this.#parts;
    bus.publishEvent(event).catch((error: unknown) => {
      logger.debug({ err: error, jobId: event.jobId }, 'event not published');
    });
  }

  /** queued → dispatched, for a job that has been given a slot. @returns false when it has ended meanwhile. */
  async dispatch(job: Job, plan: Plan): Promise<boolean> {
    const dispatched = await this.#parts.store.transitions.dispatch(job, poolOf(plan));
    if (dispatched !== undefined) this.publish(dispatched, plan);
    return dispatched !== undefined;
  }

  /**
   * Jobs that ended at their places, when their turn comes or has passed: only then they are moved, since until then their
   * places must not look like those of jobs that are still on their way.
   */
  async clearPlaces(jobs: readonly Job[]): Promise<void> {
    await this.#parts.store.history.take(jobs);
  }

  #nobodyWaits(accountId: string): boolean {
    const seen = this.#parts.ledger.lastSeen(accountId);
    return seen === undefined || lanesAreEmpty(seen);
  }

  /** Who would get so many slots that are given back now, or fewer; undefined when nobody would. */
  async #nextInLane(
    accountId: string,
    slots: number,
  ): Promise<(NextInLane & { readonly granted: readonly Granted[] }) | undefined> {
    const { ledger, planOf } = this.#parts;
    const { plan } = await planOf(accountId);
    const seen = ledger.lastSeen(accountId);
    const cap = plan.concurrentRenders;
    if (seen === undefined || seen.inFlight > cap) return undefined;
    const head = await this.#heads.next(seen);
    if (head === undefined) return undefined;
    const waiting = this.#heads.behind(head, accountId, slots);
    const [first] = waiting;
    if (first === undefined) return undefined;
    // Those that have waited since they were let in all have the same version: they can be dispatched together.
    const alike = waiting.filter(({ version }, i) => i === 0 || version === first.version);
    const jobs = alike.length === waiting.length ? waiting : [first];
    const granted = jobs.map((job) => ({ job, plan }));
    return { lane: head.lane, head: head.number, jobs, cap, seen, granted };
  }

  /**
   * Gives a slot to who is at a head, or passes over who has ended there.
   *
   * @returns who has got one; `done` when no slot is free or nobody is next.
   */
  async #advance(accountId: string, plan: Plan): Promise<Granted | 'again' | 'done'> {
    const { ledger } = this.#parts;
    const record = ledger.lastSeen(accountId) ?? (await ledger.find(accountId));
    const cap = plan.concurrentRenders;
    if (record === undefined || record.inFlight >= cap) return 'done';
    const head = await this.#heads.next(record);
    if (head === undefined) return 'done';
    const { lane, number, job, ended } = head;
    const waits = job !== undefined && !hasEnded(job.state);
    if (!waits) await this.clearPlaces(ended);
    const moved = waits
      ? await ledger.takeNext(accountId, lane, job, { head: number, cap })
      : await ledger.passOver(accountId, lane, number, Math.max(1, ended.length));
    if (moved === undefined) ledger.forgetSeen(accountId);
    return moved !== undefined && waits ? { job, plan } : 'again';
  }

  /** Dispatches who has got a slot, or takes it back from who has ended between the look and the slot. */
  async #begin({ job, plan }: Granted): Promise<void> {
    if (await this.dispatch(job, plan)) return;
    await this.#takeBack(job);
  }

  /** `#begin` for jobs with the same version, in one update. */
  async #beginAll(granted: readonly Granted[]): Promise<void> {
    const [{ plan }] = granted as [Granted];
    const jobs = granted.map(({ job }) => job);
    const dispatched = await this.#parts.store.transitions.dispatchAll(jobs, poolOf(plan));
    for (const job of dispatched) this.publish(job, plan);
    const begun = new Set(dispatched.map(({ _id }) => _id));
    for (const job of jobs) if (!begun.has(job._id)) await this.#takeBack(job);
  }

  /** From a job that has not been dispatched: it has ended between the look and the slot. */
  async #takeBack(job: Job): Promise<void> {
    const { ledger, store } = this.#parts;
    const now = await store.live.find(job._id);
    // A sweep that took this process for dead has dispatched it: then the slot is its own.
    if (now !== undefined && now.endedFrom !== 'queued') return;
    if (now !== undefined) await this.clearPlaces([now]);
    await ledger.backToWaiting(job.accountId, job._id);
  }
}

function freed(ledger: SeenLedger | undefined, granted: readonly Granted[] = []): FreedSlots | undefined {
  return ledger && { ledger, granted };
}

/** Renders of one account that keep the smallest worker busy: past that another one computes beside it. */
const RENDERS_TOGETHER = 2;

/**
 * Spreads an account's jobs over as many workers as they can keep busy at the moment, and no more: each of them has to
 * make a context for the account, and finds it warm the next time. With little to do an account stays with one worker.
 */
function shardOf(jobId: string, inFlight: number, slotsPerWorker: number): number {
  const shards = Math.max(1, Math.ceil(inFlight / Math.min(slotsPerWorker, RENDERS_TOGETHER)));
  return createHash('sha1').update(jobId).digest().readUInt32BE(0) % shards;
}
