import type { Bus, JobClass, JobPointer, PointerConsumer, Slot, Subscription } from '../bus/bus.ts';
import type { Job } from '../jobs/job.ts';
import { HeldJobs } from './held-jobs.ts';
import { type AttemptParts, attempt } from './render-attempt.ts';
import { WorkerSlots } from './slots.ts';

export interface WorkerParts extends AttemptParts {
  readonly bus: Bus;
  /** The pool that it serves. */
  readonly pool: string;
  /** Names this process in leases; never used twice. */
  readonly owner: string;
  /** Renders at a time: the one limit between the bus and the page. */
  readonly slots: number;
  readonly leaseMs: number;
  readonly onSlots: (busy: number) => void;
}

/** Time for killed renders to be recorded as given back. */
const GIVE_BACK_MS = 5000;

/**
 * Takes pointers from the bus as it has slots for them, claims their jobs and renders them. See job.ts for what a
 * claim is, and bus.ts for what is asked of a consumer.
 */
export class Worker implements PointerConsumer {
  readonly #parts: WorkerParts;
  readonly #slots: WorkerSlots;
  readonly #held: HeldJobs;
  readonly #subscriptions: Subscription[] = [];

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#slots = new WorkerSlots(parts.slots, parts.onSlots);
    this.#held = new HeldJobs(parts.store.transitions, parts.owner, parts.leaseMs, parts.logger);
  }

  async start(): Promise<void> {
    const { bus, pool } = this.#parts;
    // A held job is said to be cancelled: look at once instead of at the next renewal.
    this.#subscriptions.push(
      await bus.subscribeEvents('cancels', ({ jobId }) => {
        if (this.#held.holds(jobId)) void this.#held.renew();
      }),
      await bus.consumePointers(pool, this),
    );
  }

  reserve(jobClass: JobClass, signal: AbortSignal): Promise<Slot> {
    return this.#slots.reserve(jobClass, signal);
  }

  async accept(pointer: JobPointer, slot: Slot): Promise<void> {
    const { store, owner, leaseMs, logger } = this.#parts;
    // The input is fetched while the claim is under way: most claims succeed.
    const loading = store.inputs.load(pointer.jobId).catch(() => undefined);
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
    this.#parts.observe.claimed(job);
    // The slot is free for the next job while the end of this one is followed up.
    const held = this.#held.add(job, () => slot.release());
    void attempt(this.#parts, held, loading)
      .catch((error: unknown) => {
        // The database is away: the lease runs out and the job is taken up again.
        logger.error({ err: error, jobId: pointer.jobId }, 'attempt not recorded');
      })
      .finally(() => {
        this.#held.remove(pointer.jobId);
        slot.release();
      });
  }

  /**
   * Takes no more jobs, lets those under way finish for `graceMs`, then gives back the rest; resolves when nothing is
   * held any more.
   */
  async stop(graceMs: number): Promise<void> {
    for (const subscription of this.#subscriptions.splice(0).reverse()) await subscription.stop();
    if (!(await this.#held.drained(graceMs))) {
      this.#held.stopAll('shutdown');
      await this.#held.drained(GIVE_BACK_MS);
    }
    this.#held.close();
  }
}
