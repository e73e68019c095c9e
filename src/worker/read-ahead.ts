import { Semaphore } from '../infra/async/semaphore.ts';
import { accountOf, type JobClass, type JobPointer, type Slot } from '../infra/bus/bus.ts';

/**
 * Pointers of each class that a worker may hold in addition to the jobs that it renders. This is more than an account
 * has on the bus at a time under most plans, so that pointers of other accounts behind them are seen. A pointer takes a
 * few hundred bytes.
 */
const MAX_AHEAD = 256;

/** A waiting pointer. It is removed when its job is claimed, or when it is published to other workers. */
export interface HeldPointer {
  /** Aborts when the job is no longer to be claimed here. */
  readonly signal: AbortSignal;
  /** Removes and returns the pointer; undefined when it has been published to other workers. */
  take(): JobPointer | undefined;
}

/**
 * The pointers that a worker has consumed from the bus and not claimed yet. They show the fair queue which accounts
 * wait. Each job has one pointer, the one with the newest version.
 */
export class ReadAhead {
  readonly #pointers = new Map<string, JobPointer>();
  /** When each arrived, or was offered to another worker, in the order in which they are to be offered. */
  readonly #since = new Map<string, number>();
  readonly #room: Readonly<Record<JobClass, Semaphore>> = {
    interactive: new Semaphore(MAX_AHEAD),
    bulk: new Semaphore(MAX_AHEAD),
  };
  readonly #ends: Record<JobClass, AbortController> = {
    interactive: new AbortController(),
    bulk: new AbortController(),
  };

  /** Resolves when a further pointer of the class may be held. @throws the signal's reason when that aborts. */
  async room(jobClass: JobClass, signal: AbortSignal): Promise<Slot> {
    return { release: await this.#room[jobClass].acquire(signal) };
  }

  /** @returns undefined when the job already waits here. */
  add(pointer: JobPointer): HeldPointer | undefined {
    const { jobId } = pointer;
    const known = this.#pointers.get(jobId);
    if (known === undefined || known.version <= pointer.version) this.#pointers.set(jobId, pointer);
    if (known !== undefined) return undefined;
    this.#since.set(jobId, performance.now());
    const { signal } = this.#ends[pointer.class];
    return {
      signal,
      take: () => {
        const newest = this.#pointers.get(jobId);
        if (signal.aborted || newest === undefined) return undefined;
        this.#remove(jobId);
        return newest;
      },
    };
  }

  empty(jobClass: JobClass): JobPointer[] {
    this.#ends[jobClass].abort();
    this.#ends[jobClass] = new AbortController();
    const out = [...this.#pointers.values()].filter((pointer) => pointer.class === jobClass);
    for (const { jobId } of out) this.#remove(jobId);
    return out;
  }

  get size(): number {
    return this.#pointers.size;
  }

  /**
   * The pointers that are to be offered to other workers next, among those that have waited here for `ms` milliseconds.
   *
   * @param limit largest number returned.
   */
  nextToOffer(ms: number, limit: number): JobPointer[] {
    const found: JobPointer[] = [];
    const before = performance.now() - ms;
    for (const [jobId, since] of this.#since) {
      if (found.length === limit) break;
      const pointer = this.#pointers.get(jobId);
      if (pointer !== undefined && since <= before) found.push(pointer);
    }
    return found;
  }

  /** A pointer has been offered, and is offered again after `ms` more: it is unknown here whether others claim the job. */
  offered(jobId: string, ms: number): void {
    if (this.#since.delete(jobId)) this.#since.set(jobId, performance.now() + ms);
  }

  /** Jobs of an account that wait here, in the order of their arrival. @param limit largest number returned. */
  jobsOf(accountId: string, limit: number): string[] {
    const found: string[] = [];
    for (const { jobId, routingKey } of this.#pointers.values()) {
      if (found.length === limit) break;
      if (accountOf(routingKey) === accountId) found.push(jobId);
    }
    return found;
  }

  #remove(jobId: string): void {
    this.#pointers.delete(jobId);
    this.#since.delete(jobId);
  }
}
