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
import type { WorkerState } from '../workers/worker-registry.ts';
import { HeldJobs } from './held-jobs.ts';
import { type HeldPointer, ReadAhead } from './read-ahead.ts';
import { type AttemptParts, attempt } from './render-attempt.ts';
import { type WorkerSlot, WorkerSlots } from './slots.ts';

export interface WorkerParts extends AttemptParts {
  readonly bus: Bus;
  /** The pool that it serves. */
  readonly pool: string;
  /** Names this process in leases; never used twice. */
  readonly owner: string;
  /** Renders at a time: the one limit between the bus and the page. */
  readonly slots: number;
  /** Of these, how many may be something else than at rest; all, unless said otherwise. */
  readonly computing?: number;
  readonly leaseMs: number;
  readonly onSlots: (busy: number) => void;
}

/** Time for killed renders to be recorded as given back. */
const GIVE_BACK_MS = 5000;
/** A pointer that has waited here for so long is offered to other workers, again and again in turns; in milliseconds. */
const OFFER_EVERY_MS = 1000;
/** A worker without a browser for so long leaves its work to others: one that has died is replaced sooner. Milliseconds. */
const UNABLE_AFTER_MS = 5000;
/** Inputs of an account's next jobs that are read with the one at hand, where they are small. */
const READ_TOGETHER = 7;
/** Time for pointers to be handed back; what is not is published again by a sweep. */
const HAND_BACK_MS = 2000;

/**
 * Takes pointers from the bus, has the accounts behind them take turns at its slots, claims their jobs and renders them.
 * See job.ts for what a claim is, and bus.ts for what is asked of a consumer.
 */
export class Worker implements PointerConsumer {
  readonly #parts: WorkerParts;
  readonly #slots: WorkerSlots;
  readonly #held: HeldJobs;
  readonly #ahead = new ReadAhead();
  readonly #claiming = new Set<Promise<void>>();
  #cancels: Subscription | undefined;
  /** Undefined while it takes no pointers. */
  #pointers: Subscription | undefined;
  /** Whether what comes from the bus is for this worker, and not for others. */
  #takes = false;
  #offers: NodeJS.Timeout | undefined;
  #offered = 0;
  #state: WorkerState = 'starting';
  /** It was asked to pause. */
  #asked = false;
  /** It has been without a browser for too long. */
  #unable = false;
  /** When it last had one, on the clock of `performance`. */
  #ableAt = performance.now();
  /** Changes of what it takes, one after the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    const { slots, computing, onSlots } = parts;
    this.#slots = new WorkerSlots(slots, {
      onChange: onSlots,
      ...(computing !== undefined && { computing }),
    });
    this.#held = new HeldJobs(parts.store.transitions, parts.owner, parts.leaseMs, parts.logger);
  }

  /** As of workers/worker-registry.ts. It is `paused` once nothing more can be claimed. */
  get state(): WorkerState {
    return this.#state;
  }

  /** Jobs that it holds, or is about to. */
  get busy(): number {
    return Math.max(this.#held.size, this.#slots.busy);
  }

  async start(): Promise<void> {
    // A held job is said to be cancelled: look at once instead of at the next renewal.
    this.#cancels = await this.#parts.bus.subscribeEvents('cancels', ({ jobId }) => {
      if (this.#held.holds(jobId)) void this.#held.renew();
    });
    this.#offers = setInterval(() => {
      this.#slots.look();
      this.#offer();
      this.#lookAtRenderer();
    }, OFFER_EVERY_MS);
    this.#offers.unref();
    await this.resume();
  }

  /** So many of its renders wait for something else than a core: it takes others beside them. */
  rest(renders: number): void {
    this.#slots.rest(renders);
  }

  /** Claims nothing more from when this resolves; what it holds goes on. Others get the pointers that wait. */
  pause(): Promise<void> {
    this.#asked = true;
    return this.#next(() => this.#settle());
  }

  /** Claims again after a pause, as soon as it can render. */
  resume(): Promise<void> {
    this.#asked = false;
    return this.#next(() => this.#settle());
  }

  reserve(jobClass: JobClass, signal: AbortSignal): Promise<Slot> {
    return this.#ahead.room(jobClass, signal);
  }

  /** Resolves at once: the job waits for its account's turn. A worker that dies until then loses nothing but time. */
  async accept(pointer: JobPointer, room: Slot): Promise<void> {
    const held = this.#ahead.add(pointer);
    if (held === undefined || !this.#takes) {
      room.release();
      return;
    }
    const claiming = this.#claimInTurn(pointer, held)
      .finally(() => room.release())
      .finally(() => this.#claiming.delete(claiming));
    this.#claiming.add(claiming);
  }

  async regrouped(jobClass: JobClass): Promise<void> {
    await this.#handBack(this.#takeOut([jobClass]));
  }

  async #claimInTurn({ class: jobClass, routingKey }: JobPointer, held: HeldPointer): Promise<void> {
    let slot: WorkerSlot;
    try {
      slot = await this.#slots.reserve(jobClass, held.signal, accountOf(routingKey));
    } catch {
      // It has been handed back.
      return;
    }
    const pointer = held.take();
    if (pointer === undefined) slot.release();
    else await this.#claim(pointer, slot);
  }

  /**
   * Keys and partitions are shared out by chance, so jobs may wait here while another worker has nothing to do: each time
   * as many as could run here are sent where chance will have it. Whoever is first to have a slot claims the job.
   */
  #offer(): void {
    const { bus, logger, slots } = this.#parts;
    for (const pointer of this.#ahead.nextToOffer(OFFER_EVERY_MS, slots)) {
      this.#offered += 1;
      const routingKey = anywhere(pointer.routingKey, `${pointer.jobId}.${this.#offered}`);
      bus.publishPointer({ ...pointer, routingKey }).catch((error: unknown) => {
        logger.debug({ err: error, jobId: pointer.jobId }, 'pointer not offered to others');
      });
    }
  }

  async #claim(pointer: JobPointer, slot: WorkerSlot): Promise<void> {
    const { store, owner, leaseMs, logger } = this.#parts;
    // The input is fetched while the claim is under way: most claims succeed.
    const accountId = accountOf(pointer.routingKey);
    const soon = { accountId, ids: () => this.#ahead.jobsOf(accountId, READ_TOGETHER) };
    const loading = store.inputs.load(pointer.jobId, soon).catch(() => undefined);
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
    void attempt(this.#parts, held, loading, slot)
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
   * Takes no more jobs, lets those under way finish for `graceMs` from now, then gives back the rest; resolves when
   * nothing is held any more.
   */
  async stop(graceMs: number): Promise<void> {
    const deadline = performance.now() + graceMs;
    this.#become('ending');
    clearInterval(this.#offers);
    await this.#turn;
    await this.#letGo();
    await this.#cancels?.stop();
    if (!(await this.#held.drained(Math.max(0, deadline - performance.now())))) {
      this.#held.stopAll('shutdown');
      await this.#held.drained(GIVE_BACK_MS);
    }
    this.#held.close();
  }

  /** A worker that cannot render claims nothing, and has others render what it holds, until it can again. */
  #lookAtRenderer(): void {
    const { renderer, logger } = this.#parts;
    const now = performance.now();
    if (renderer.health().ready) this.#ableAt = now;
    const unable = now - this.#ableAt > UNABLE_AFTER_MS;
    if (unable === this.#unable) return;
    this.#unable = unable;
    if (unable) logger.error('no browser can be had: jobs are left to other workers');
    else logger.info('there is a browser again: jobs are claimed');
    this.#next(() => this.#settle()).catch((error: unknown) => {
      logger.warn({ err: error }, 'the worker could not stop claiming, or begin again');
    });
  }

  async #settle(): Promise<void> {
    if (this.#asked || this.#unable) {
      await this.#letGo();
      if (this.#unable) this.#held.stopAll('unable');
      this.#become('paused');
      return;
    }
    this.#takes = true;
    this.#pointers ??= await this.#parts.bus.consumePointers(this.#parts.pool, this);
    this.#become('claiming');
  }

  #become(state: WorkerState): void {
    // For good: it may be told to end in the middle of another change.
    if (this.#state !== 'ending') this.#state = state;
  }

  async #letGo(): Promise<void> {
    this.#takes = false;
    // Nothing more is claimed from here on. What still comes waits with the others to be handed back.
    const waiting = this.#takeOut(JOB_CLASSES);
    await this.#pointers?.stop();
    this.#pointers = undefined;
    await this.#handBack([...waiting, ...this.#takeOut(JOB_CLASSES)]);
    await Promise.all(this.#claiming);
  }

  #takeOut(classes: readonly JobClass[]): JobPointer[] {
    return classes.flatMap((jobClass) => this.#ahead.empty(jobClass));
  }

  /** Has others get the pointers that wait here. */
  async #handBack(waiting: readonly JobPointer[]): Promise<void> {
    if (waiting.length === 0) return;
    const { bus, logger } = this.#parts;
    const published = Promise.all(waiting.map((pointer) => bus.publishPointer(pointer)));
    await within(HAND_BACK_MS, 'Handing pointers back', published).catch((error: unknown) => {
      logger.warn(
        { err: error, pointers: waiting.length },
        'pointers not handed back; a sweep publishes them',
      );
    });
  }

  /** Whoever is told to end does nothing else any more. */
  #next(change: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(() => (this.#state === 'ending' ? undefined : change()));
    // Whoever asked hears of a failure; the next change is tried all the same.
    this.#turn = done.catch(() => {});
    return done;
  }
}
