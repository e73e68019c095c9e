import { createHash } from 'node:crypto';
import { KeyedMutex } from '../async/keyed-mutex.ts';
import { type Bus, DEFAULT_POOL, type JobEvent, type JobPointer } from '../bus/bus.ts';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { AdmissionTimer } from '../limits/admission-timer.ts';
import type { Plan } from '../plans/plan.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { HistoryMover } from './history-mover.ts';
import { deleteInputs, saveInput } from './inputs.ts';
import { isOver, type Job, type JobInput } from './job.ts';
import type { JobCollections } from './job-collections.ts';
import { JobExists, type Lifecycle } from './lifecycle.ts';
import { secondsPerStep } from './queue-pace.ts';
import type { Slots } from './slots.ts';

export interface DispatchParts {
  readonly collections: JobCollections;
  readonly lifecycle: Lifecycle;
  readonly slots: Slots;
  readonly bus: Bus;
  readonly mover: HistoryMover;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The plan that an account has now. */
  readonly planOf: (accountId: string) => Promise<Plan>;
  /** Renders at a time in one worker: how many workers a plan's concurrency is spread over follows from it. */
  readonly slotsPerWorker: number;
  /** Brings a job that has just ended to account, before it leaves the hot collection. */
  readonly onEnded: (job: Job) => Promise<void>;
}

/** What goes on beside the submission of a job. */
export interface Admission {
  readonly timer?: AdmissionTimer;
  /** Awaited before the job is written; when it rejects, the job is refused with that. */
  readonly granted?: Promise<unknown>;
}

/** Waiting jobs that are looked up together: mostly one slot is free, and the second finds that there is none. */
const WAITING_AT_ONCE = 4;

/**
 * Admission by plan slots. A job is published only while it holds a slot of its account, so the bus carries only what
 * may run now, and no account's backlog stands before another account's work.
 */
export class Dispatch {
  readonly #parts: DispatchParts;
  /**
   * Of jobs of one account that come at the same moment each counts those before it. Other processes take turns of
   * their own, so a full queue holds at most one job more for each of them.
   */
  readonly #queueing = new KeyedMutex();

  constructor(parts: DispatchParts) {
    this.#parts = parts;
  }

  /**
   * Makes a new job durable and sets it going: at once with a free slot, else when its turn comes.
   *
   * @param job in state `queued`, version 1.
   * @throws PlatenError TOO_MANY_WAITING when the account's queue is full, or what `granted` rejects with; nothing is
   * left behind then. JobExists when the job was accepted before. After any other error it may have been accepted or
   * not; what is left is swept up.
   */
  async submit(job: Job, input: JobInput, { timer, granted }: Admission = {}): Promise<void> {
    const { collections, lifecycle, slots, planOf, clock } = this.#parts;
    const plan = await planOf(job.accountId);
    const steps = timer ?? new AdmissionTimer();
    const [saved, acquired, permission] = await Promise.allSettled([
      saveInput(collections, input),
      steps.time('slot', () => slots.acquire(job.accountId, job._id, plan.concurrentRenders, false)),
      granted,
    ]);
    const holdsSlot = acquired.status === 'fulfilled' && acquired.value;
    try {
      if (permission.status === 'rejected') throw permission.reason;
      if (saved.status === 'rejected') throw saved.reason;
      if (acquired.status === 'rejected') throw acquired.reason;
      if (holdsSlot) {
        const dispatched: Job = { ...job, state: 'dispatched', dispatchedAt: clock.now() };
        await lifecycle.accept(dispatched);
        this.publish(dispatched, plan);
        return;
      }
      await steps.time('queue', () => this.#queueUp(job, plan));
    } catch (error) {
      const unwritten = permission.status === 'rejected' || saved.status === 'rejected';
      const refused = unwritten || error instanceof PlatenError;
      if (refused) await deleteInputs(collections, [job._id]).catch(() => undefined);
      // Had the job that exists taken a slot, it could not have been taken for it once more.
      if (holdsSlot && (refused || error instanceof JobExists)) {
        await this.releaseUnused(job.accountId, job._id).catch(() => undefined);
      }
      throw error;
    }
    await slots.markContended(job.accountId, true);
    await this.fill(job.accountId);
  }

  /**
   * Hands free slots of an account to its waiting jobs, interactive ones first, then the oldest.
   * Safe to run in several processes at once.
   */
  async fill(accountId: string): Promise<void> {
    const { lifecycle, slots, planOf } = this.#parts;
    const plan = await planOf(accountId);
    for (;;) {
      const waiting = await this.#nextWaiting(accountId);
      for (const next of waiting) {
        if (!(await slots.acquire(accountId, next._id, plan.concurrentRenders, true))) return;
        const dispatched = await lifecycle.dispatch(next);
        if (dispatched === undefined) await slots.release(accountId, next._id);
        else this.publish(dispatched, plan);
      }
      if (waiting.length === WAITING_AT_ONCE) continue;
      await slots.markContended(accountId, false);
      // One may have come between the look and the mark, and seen the mark still set.
      if ((await this.#nextWaiting(accountId)).length === 0) return;
      await slots.markContended(accountId, true);
    }
  }

  /**
   * What follows when a job has left `dispatched` or `processing`, or has ended: its slot goes to the next in line,
   * whoever waits for it is told, and it moves to the history if it is over.
   */
  async settle(job: Job): Promise<void> {
    const { slots, mover, onEnded } = this.#parts;
    const over = isOver(job.state);
    this.tell(over ? { jobId: job._id, kind: 'ended', record: job } : { jobId: job._id, kind: 'retrying' });
    if (job.state === 'cancelled') this.tell({ jobId: job._id, kind: 'cancelled' });
    if (over) {
      // A crash before this line is made up for by the sweep that finds the job still here.
      await onEnded(job);
      mover.add(job);
    }
    if (await slots.release(job.accountId, job._id)) await this.fill(job.accountId);
  }

  /** Gives back the slot that a request took for a job and died before it wrote the job. */
  async releaseUnused(accountId: string, jobId: string): Promise<void> {
    if (await this.#parts.slots.release(accountId, jobId)) await this.fill(accountId);
  }

  /** Tells the workers of a dispatched job. A pointer that is lost is published again by the sweep. */
  publish(job: Job, plan: Plan): void {
    const pointer: JobPointer = {
      jobId: job._id,
      version: job.version,
      class: job.class,
      pool: DEFAULT_POOL,
      routingKey: `${job.accountId}:${shardOf(job._id, plan.concurrentRenders, this.#parts.slotsPerWorker)}`,
    };
    this.#parts.bus.publishPointer(pointer).catch((error: unknown) => {
      this.#parts.logger.warn({ err: error, jobId: job._id }, 'pointer not published; the sweep will do it');
    });
  }

  tell(event: JobEvent): void {
    this.#parts.bus.publishEvent(event).catch((error: unknown) => {
      this.#parts.logger.debug({ err: error, jobId: event.jobId }, 'event not published');
    });
  }

  /** Those whose turn is next, in order. */
  async #nextWaiting(accountId: string): Promise<Job[]> {
    const { collections, clock } = this.#parts;
    return (await collections.jobs
      .find({ accountId, state: 'queued', notBefore: { $lte: clock.now() } })
      .sort({ priority: 1, createdAt: 1 })
      .limit(WAITING_AT_ONCE)
      .lean()) as Job[];
  }

  #queueUp(job: Job, plan: Plan): Promise<void> {
    return this.#queueing.run(job.accountId, async () => {
      await this.#refuseFullQueue(job.accountId, plan);
      await this.#parts.lifecycle.accept(job);
    });
  }

  async #refuseFullQueue(accountId: string, plan: Plan): Promise<void> {
    const waiting = await this.#parts.collections.jobs.countDocuments({ accountId, state: 'queued' });
    if (waiting < plan.maxWaitingJobs) return;
    throw new PlatenError(
      'TOO_MANY_WAITING',
      `${waiting} jobs of this account are waiting; the plan allows ${plan.maxWaitingJobs}.`,
      {
        retryAfterSeconds: await secondsPerStep(
          this.#parts.collections,
          accountId,
          plan,
          this.#parts.clock.now(),
        ),
      },
    );
  }
}

/** Spreads an account's jobs over as many workers as its plan can keep busy. */
function shardOf(jobId: string, concurrency: number, slotsPerWorker: number): number {
  const shards = Math.max(1, Math.ceil(concurrency / slotsPerWorker));
  return createHash('sha1').update(jobId).digest().readUInt32BE(0) % shards;
}
