import { createHash } from 'node:crypto';
import type { Bus, JobEvent, JobPointer } from '../bus/bus.ts';
import { type NamedPlan, type Plan, poolOf } from '../plans/plan.ts';
import type { Logger } from '../telemetry/logger.ts';
import { hasEnded, type Job } from './job.ts';
import { LANES, type Lane, placeOf } from './lanes.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type LedgerRecord, laneState, lanesAreEmpty, nobodyArrives } from './ledger/ledger-record.ts';
import type { JobStore } from './store/job-store.ts';

export interface HandOverParts {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly bus: Bus;
  readonly logger: Logger;
  /** The plan that an account has now. */
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  /** Renders at a time in one worker of a pool: over how many workers an account is spread follows from it. */
  readonly slotsPerWorker: (pool: string) => number;
}

/** Jobs that one call hands slots to or passes over at most; a sweep goes on. */
const MAX_STEPS = 1000;

/** Who is at the head of a lane: nobody, where the one whose place it was has ended or was never written. */
interface Head {
  readonly lane: Lane;
  readonly number: number;
  readonly job: Job | undefined;
}

/**
 * Hands plan slots that are free to those at the heads of an account's lanes, and tells the workers. A job is published
 * only while it holds a slot, so the bus carries only what may run now, and no account's backlog stands before another
 * account's work.
 */
export class HandOver {
  readonly #parts: HandOverParts;

  constructor(parts: HandOverParts) {
    this.#parts = parts;
  }

  /**
   * Hands out an account's free slots, for as long as there are any and somebody waits. Safe to run in several processes
   * at once.
   *
   * @param seen the account's ledger as it was a moment ago; looked up when absent.
   */
  async serve(accountId: string, seen?: LedgerRecord): Promise<void> {
    const { ledger, planOf } = this.#parts;
    let record = seen ?? (await ledger.find(accountId));
    if (record === undefined || lanesAreEmpty(record)) return;
    const { plan } = await planOf(accountId);
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      if (record === undefined || record.inFlight >= plan.concurrentRenders) return;
      const head = await this.#nextHead(record);
      if (head === undefined) return;
      record = (await this.#advance(accountId, head, plan)) ?? (await ledger.find(accountId));
    }
  }

  /**
   * Tells the workers of a dispatched job. A pointer that does not arrive is published again by a sweep.
   *
   * @param plan the account's.
   */
  publish(job: Job, plan: Plan): void {
    const { bus, logger, slotsPerWorker } = this.#parts;
    const shard = shardOf(job._id, plan.concurrentRenders, slotsPerWorker(job.pool));
    const pointer: JobPointer = {
      jobId: job._id,
      version: job.version,
      pool: job.pool,
      class: job.class,
      routingKey: `${job.accountId}:${shard}`,
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
   * A job that ended at its place, when its turn comes or has passed: only then it is moved, since until then its place
   * must not look like one whose job is still on its way.
   */
  async clearPlace(job: Job): Promise<void> {
    await this.#parts.store.history.take([job]);
  }

  /**
   * The first lane with somebody at its head. A place that looks empty may belong to a job that is being let in just now:
   * who lets it in hands out slots afterwards, so nothing is missed by going on to the next lane. When nobody is on the
   * way, nobody is coming to it. (When somebody always is, sweeps/waiting-jobs.ts finds out.)
   */
  async #nextHead(record: LedgerRecord): Promise<Head | undefined> {
    for (const lane of LANES) {
      const { head, tail } = laneState(record, lane);
      if (head >= tail) continue;
      const job = await this.#parts.store.live.at(placeOf(record._id, lane, head));
      if (job !== undefined || nobodyArrives(record)) return { lane, number: head, job };
    }
    return undefined;
  }

  /** Gives a slot to who is at a head, or passes over who has ended there. */
  async #advance(
    accountId: string,
    { lane, number, job }: Head,
    plan: Plan,
  ): Promise<LedgerRecord | undefined> {
    const { ledger, store } = this.#parts;
    if (job === undefined) return ledger.passOver(accountId, lane, number);
    if (hasEnded(job.state)) {
      await this.clearPlace(job);
      return ledger.passOver(accountId, lane, number);
    }
    const taken = await ledger.takeNext(accountId, lane, job, { head: number, cap: plan.concurrentRenders });
    if (taken === undefined || (await this.dispatch(job, plan))) return taken;
    // It ended between the look and the slot.
    const ended = await store.live.find(job._id);
    if (ended !== undefined && hasEnded(ended.state)) await this.clearPlace(ended);
    return ledger.backToWaiting(accountId, job._id);
  }
}

/** Spreads an account's jobs over as many workers as its plan can keep busy. */
function shardOf(jobId: string, concurrency: number, slotsPerWorker: number): number {
  const shards = Math.max(1, Math.ceil(concurrency / slotsPerWorker));
  return createHash('sha1').update(jobId).digest().readUInt32BE(0) % shards;
}
