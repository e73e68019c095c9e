import { within } from '../infra/async/timeout.ts';
import {
  accountOf,
  JOB_CLASSES,
  type JobClass,
  type JobPointer,
  type PointerConsumer,
  type Slot,
  type Subscription,
} from '../infra/bus/bus.ts';
import type { Core } from '../infra/core.ts';
import type { Permit } from '../infra/scheduling/fair-queue.ts';
import type { WorkerSlots } from '../infra/scheduling/worker-slots.ts';
import type { JobInput } from '../work/jobs/job.ts';
import type { HeldJobs } from './held-jobs.ts';
import { type HeldPointer, ReadAhead } from './read-ahead.ts';
import { type AttemptDeps, attempt } from './render-attempt.ts';

export interface JobClaimsDeps extends AttemptDeps, Pick<Core, 'bus'> {
  /** The pool that the worker serves. */
  readonly pool: string;
  /** Identifies this process in leases; never used twice. */
  readonly owner: string;
  /** The slots in which renders run. They are the only limit between the bus and the page. */
  readonly slots: WorkerSlots;
  readonly leaseMs: number;
}

/** A pointer that has waited here for this long is offered to another worker, and again after the second time. Milliseconds. */
const OFFER_AFTER_MS = 100;
const OFFER_AGAIN_MS = 1000;
/** Most inputs of an account's next jobs that are read together with the current one, if they are small. */
const READ_TOGETHER = 7;
/** Time limit for publishing waiting pointers to other workers; a sweep publishes the rest. Milliseconds. */
const HAND_BACK_MS = 2000;

/**
 * Moves pointers through a worker: from the bus into the read-ahead, and from there through the fair queue of accounts
 * to a worker slot, with which the job is claimed and attempted. job.ts defines a claim, and bus.ts the contract of a
 * consumer.
 */
export class JobClaims implements PointerConsumer {
  readonly #deps: JobClaimsDeps;
  readonly #held: HeldJobs;
  readonly #slots: WorkerSlots;
  readonly #ahead = new ReadAhead();
  readonly #claiming = new Set<Promise<void>>();
  /** The subscription; undefined while the worker consumes no pointers. */
  #pointers: Subscription | undefined;
  /** Whether the worker accepts pointers from the bus; otherwise they are left to other workers. */
  #isOpen = false;
  /** Runs while pointers wait here. */
  #offers: NodeJS.Timeout | undefined;
  #offering = false;

  /** @param held contains each job from its claim until its attempt has ended. */
  constructor(deps: JobClaimsDeps, held: HeldJobs) {
    this.#deps = deps;
    this.#held = held;
    this.#slots = deps.slots;
  }

  get worker(): string {
    return this.#deps.owner;
  }

  get slotsTaken(): number {
    return this.#slots.taken;
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    this.#pointers ??= await this.#deps.bus.consumePointers(this.#deps.pool, this);
  }

  /** Stops claiming before this resolves, and publishes the waiting pointers to other workers. */
  async close(): Promise<void> {
    this.#isOpen = false;
    clearInterval(this.#offers);
    this.#offers = undefined;
    // From here on no job is claimed. Pointers that still arrive are published to other workers with the rest.
    const waiting = this.#takeOut(JOB_CLASSES);
    await this.#pointers?.stop();
    this.#pointers = undefined;
    await this.#handBack([...waiting, ...this.#takeOut(JOB_CLASSES)]);
    await Promise.all(this.#claiming);
  }

  reserve(jobClass: JobClass, signal: AbortSignal): Promise<Slot> {
    return this.#ahead.room(jobClass, signal);
  }

  /** Resolves at once: the job then waits for a slot. If the worker dies meanwhile, the job is only delayed. */
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
    this.#offers ??= setInterval(() => void this.#offer(), OFFER_AFTER_MS).unref();
  }

  /**
   * Grants slots that have become free by the passing of time, and offers waiting pointers to workers with free slots:
   * an account's jobs wait here by its key while another worker is idle. The first worker with a free slot claims the
   * job. Each time at most as many are sent as this worker has slots.
   */
  async #offer(): Promise<void> {
    this.#slots.grant();
    if (this.#ahead.size === 0) {
      clearInterval(this.#offers);
      this.#offers = undefined;
    }
    if (this.#offering || !this.#isOpen) return;
    this.#offering = true;
    const { bus, logger } = this.#deps;
    try {
      for (const pointer of this.#ahead.nextToOffer(OFFER_AFTER_MS, this.#slots.total)) {
        if (!(await bus.offerPointer(pointer))) break;
        this.#ahead.offered(pointer.jobId, OFFER_AGAIN_MS);
      }
    } catch (error) {
      logger.debug({ err: error }, 'pointer not offered to others');
    } finally {
      this.#offering = false;
    }
  }

  async #claimWithPermit({ class: jobClass, routingKey }: JobPointer, held: HeldPointer): Promise<void> {
    let slot: Permit;
    try {
      const account = accountOf(routingKey);
      slot = await this.#slots.acquire({ account, priority: jobClass }, held.signal);
    } catch {
      // The pointer has been published to other workers.
      return;
    }
    const pointer = held.take();
    if (pointer === undefined) slot.release();
    else await this.#claim(pointer, slot);
  }

  async #claim(pointer: JobPointer, slot: Permit): Promise<void> {
    const { store, owner, leaseMs, logger } = this.#deps;
    const loading = this.#ownInput(pointer);
    let claimed: Awaited<ReturnType<typeof store.transitions.claim>>;
    try {
      claimed = await store.transitions.claim(
        { _id: pointer.jobId, version: pointer.version },
        owner,
        leaseMs,
      );
    } catch (error) {
      // It is unknown whether the claim was made. If so, its lease expires; if not, the pointer is published again.
      logger.warn({ err: error, jobId: pointer.jobId }, 'claim failed');
    }
    if (claimed === undefined) {
      slot.release();
      return;
    }
    const { job, input } = claimed;
    this.#deps.observe.claimed(job);
    // The slot is free for the next job during the follow-up steps of this one.
    const held = this.#held.add(job, () => slot.release());
    void attempt(this.#deps, held, input ?? loading, slot)
      .catch((error: unknown) => {
        // The database cannot be reached: the lease expires and the job is claimed again.
        logger.error({ err: error, jobId: pointer.jobId }, 'attempt not recorded');
      })
      .finally(() => {
        this.#held.remove(pointer.jobId);
        slot.release();
      });
  }

  /** Begins to load an input that has a record of its own: concurrently with the claim, since most claims succeed. */
  async #ownInput({ jobId, routingKey, ownInput }: JobPointer): Promise<JobInput | undefined> {
    if (!ownInput) return undefined;
    const accountId = accountOf(routingKey);
    const next = { accountId, ids: () => this.#ahead.jobsOf(accountId, READ_TOGETHER) };
    return this.#deps.store.inputs.load(jobId, next).catch(() => undefined);
  }

  #takeOut(classes: readonly JobClass[]): JobPointer[] {
    return classes.flatMap((jobClass) => this.#ahead.empty(jobClass));
  }

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
