import { within } from '../async/timeout.ts';
import {
  accountOf,
  anywhere,
  type Bus,
  JOB_CLASSES,
  type JobClass,
  type JobPointer,
  type PointerConsumer,
  type Slot,
  type Subscription,
} from '../bus/bus.ts';
import type { Job } from '../jobs/job.ts';
import type { Permit } from '../scheduling/fair-queue.ts';
import { WorkerSlots } from '../scheduling/worker-slots.ts';
import type { HeldJobs } from './held-jobs.ts';
import { type HeldPointer, ReadAhead } from './read-ahead.ts';
import { type AttemptDeps, attempt } from './render-attempt.ts';

export interface JobClaimsDeps extends AttemptDeps {
  readonly bus: Bus;
  /** The pool that the worker serves. */
  readonly pool: string;
  /** Names this process in leases; never used twice. */
  readonly owner: string;
  /** Renders at a time: the one limit between the bus and the page. */
  readonly slots: number;
  /** Of these, how many may compute at a time; default: all. */
  readonly computing?: number;
  readonly leaseMs: number;
  readonly onSlots: (busy: number) => void;
}

/** A pointer that has waited here for this long is offered to other workers, each time again. Milliseconds. */
export const OFFER_EVERY_MS = 1000;
/** Inputs of an account's next jobs that are read with the current one, where they are small. */
const READ_TOGETHER = 7;
/** Time for pointers to be handed back; a sweep publishes the rest again. */
const HAND_BACK_MS = 2000;

/**
 * The way of a pointer through a worker: from the bus into the read-ahead, from there by the fair queue of accounts to a
 * worker slot, with which its job is claimed and attempted. job.ts says what a claim is, and bus.ts what a consumer
 * promises.
 */
export class JobClaims implements PointerConsumer {
  readonly #deps: JobClaimsDeps;
  readonly #held: HeldJobs;
  readonly #slots: WorkerSlots;
  readonly #ahead = new ReadAhead();
  readonly #claiming = new Set<Promise<void>>();
  /** Undefined while it takes no pointers. */
  #pointers: Subscription | undefined;
  /** Whether pointers from the bus are for this worker, and not for others. */
  #isOpen = false;
  #offered = 0;

  /** @param held has each job from its claim until its attempt has ended. */
  constructor(deps: JobClaimsDeps, held: HeldJobs) {
    this.#deps = deps;
    this.#held = held;
    const { slots, computing, onSlots } = deps;
    this.#slots = new WorkerSlots(slots, {
      onBusy: onSlots,
      ...(computing !== undefined && { computing }),
    });
  }

  get slotsTaken(): number {
    return this.#slots.taken;
  }

  /** Notes how many of the renders are blocked on I/O: others may compute meanwhile. */
  setBlocked(renders: number): void {
    this.#slots.setBlocked(renders);
  }

  /** Takes pointers from now on. */
  async open(): Promise<void> {
    this.#isOpen = true;
    this.#pointers ??= await this.#deps.bus.consumePointers(this.#deps.pool, this);
  }

  /** Claims nothing more once this resolves; other workers get the pointers that wait here. */
  async close(): Promise<void> {
    this.#isOpen = false;
    // Nothing more is claimed from here on. What still comes waits with the others to be handed back.
    const waiting = this.#takeOut(JOB_CLASSES);
    await this.#pointers?.stop();
    this.#pointers = undefined;
    await this.#handBack([...waiting, ...this.#takeOut(JOB_CLASSES)]);
    await Promise.all(this.#claiming);
  }

  reserve(jobClass: JobClass, signal: AbortSignal): Promise<Slot> {
    return this.#ahead.room(jobClass, signal);
  }

  /** Resolves at once: the job waits for a slot by itself. A worker that dies until then loses nothing but time. */
  async accept(pointer: JobPointer, room: Slot): Promise<void> {
    const held = this.#ahead.add(pointer);
    if (held === undefined || !this.#isOpen) {
      room.release();
      return;
    }
    const claiming = this.#claimWithPermit(pointer, held)
      .finally(() => room.release())
      .finally(() => this.#claiming.delete(claiming));
    this.#claiming.add(claiming);
  }

  async regrouped(jobClass: JobClass): Promise<void> {
    await this.#handBack(this.#takeOut([jobClass]));
  }

  /**
   * Gives out slots that time alone has freed for some account, and offers pointers to other workers. Keys and partitions
   * are assigned at random, so jobs may wait here while another worker has nothing to do: each time as many as could run
   * here are sent to a partition at random. The first worker that has a slot claims the job.
   */
  offer(): void {
    const { bus, logger, slots } = this.#deps;
    this.#slots.grant();
    for (const pointer of this.#ahead.nextToOffer(OFFER_EVERY_MS, slots)) {
      this.#offered += 1;
      const routingKey = anywhere(pointer.routingKey, `${pointer.jobId}.${this.#offered}`);
      bus.publishPointer({ ...pointer, routingKey }).catch((error: unknown) => {
        logger.debug({ err: error, jobId: pointer.jobId }, 'pointer not offered to others');
      });
    }
  }

  async #claimWithPermit({ class: jobClass, routingKey }: JobPointer, held: HeldPointer): Promise<void> {
    let slot: Permit;
    try {
      const account = accountOf(routingKey);
      slot = await this.#slots.acquire({ account, priority: jobClass }, held.signal);
    } catch {
      // It has been handed back.
      return;
    }
    const pointer = held.take();
    if (pointer === undefined) slot.release();
    else await this.#claim(pointer, slot);
  }

  async #claim(pointer: JobPointer, slot: Permit): Promise<void> {
    const { store, owner, leaseMs, logger } = this.#deps;
    // The input is fetched while the claim is under way: most claims succeed.
    const accountId = accountOf(pointer.routingKey);
    const next = { accountId, ids: () => this.#ahead.jobsOf(accountId, READ_TOGETHER) };
    const loading = store.inputs.load(pointer.jobId, next).catch(() => undefined);
    let job: Job | undefined;
    try {
      job = await store.transitions.claim({ _id: pointer.jobId, version: pointer.version }, owner, leaseMs);
    } catch (error) {
      // Whether the claim was made is not known. If it was, its lease runs out; if not, the pointer is published again.
      logger.warn({ err: error, jobId: pointer.jobId }, 'claim failed');
    }
    if (job === undefined) {
      slot.release();
      return;
    }
    this.#deps.observe.claimed(job);
    // The slot is free for the next job while the end of this one is followed up.
    const held = this.#held.add(job, () => slot.release());
    void attempt(this.#deps, held, loading, slot)
      .catch((error: unknown) => {
        // The database is away: the lease runs out and the job is taken up again.
        logger.error({ err: error, jobId: pointer.jobId }, 'attempt not recorded');
      })
      .finally(() => {
        this.#held.remove(pointer.jobId);
        slot.release();
      });
  }

  #takeOut(classes: readonly JobClass[]): JobPointer[] {
    return classes.flatMap((jobClass) => this.#ahead.empty(jobClass));
  }

  /** Has other workers get the pointers that wait here. */
  async #handBack(waiting: readonly JobPointer[]): Promise<void> {
    if (waiting.length === 0) return;
    const { bus, logger } = this.#deps;
    const published = Promise.all(waiting.map((pointer) => bus.publishPointer(pointer)));
    await within(HAND_BACK_MS, 'Handing pointers back', published).catch((error: unknown) => {
      logger.warn(
        { err: error, pointers: waiting.length },
        'pointers not handed back; a sweep publishes them',
      );
    });
  }
}
