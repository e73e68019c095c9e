import { Semaphore } from '../async/semaphore.ts';
import { accountOf, type JobClass, type JobPointer, type Slot } from '../bus/bus.ts';

/**
 * Pointers of each class that a worker may hold besides those whose jobs it renders. More than an account has on the bus
 * at a time under most plans, so that what is behind them is seen; a pointer takes a few hundred bytes.
 */
const MAX_AHEAD = 256;

/** A pointer that is held: gone from here when its job is claimed, or when other workers are to have it. */
export interface HeldPointer {
  /** Aborts when it is to be claimed no more. */
  readonly signal: AbortSignal;
  /** Takes it out; undefined when it has been handed back. */
  take(): JobPointer | undefined;
}

/**
 * The pointers that a worker has taken from the bus and not claimed yet: what it knows of the accounts that wait, for
 * the fair queue. One for each job; the one with the newest version counts.
 */
export class ReadAhead {
  readonly #pointers = new Map<string, JobPointer>();
  /** When they came, in the order in which other workers are to be offered them. */
  readonly #since = new Map<string, number>();
  readonly #room: Readonly<Record<JobClass, Semaphore>> = {
    interactive: new Semaphore(MAX_AHEAD),
    bulk: new Semaphore(MAX_AHEAD),
  };
  readonly #ends: Record<JobClass, AbortController> = {
    interactive: new AbortController(),
    bulk: new AbortController(),
  };

  /** Resolves when another pointer of the class may be taken. @throws the signal's reason when that aborts. */
  async room(jobClass: JobClass, signal: AbortSignal): Promise<Slot> {
    return { release: await this.#room[jobClass].acquire(signal) };
  }

  /** @returns undefined when the job waits here already. */
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

  /** Takes out everything of the class. */
  empty(jobClass: JobClass): JobPointer[] {
    this.#ends[jobClass].abort();
    this.#ends[jobClass] = new AbortController();
    const out = [...this.#pointers.values()].filter((pointer) => pointer.class === jobClass);
    for (const { jobId } of out) this.#remove(jobId);
    return out;
  }

  /**
   * The pointers that other workers are to be offered next, of those that have been here for `ms` milliseconds. All are
   * offered in rotation, since it is not known here which of them others have claimed already.
   *
   * @param limit how many at most.
   */
  nextToOffer(ms: number, limit: number): JobPointer[] {
    const found: JobPointer[] = [];
    const before = performance.now() - ms;
    for (const [jobId, since] of this.#since) {
      if (found.length === limit) break;
      const pointer = this.#pointers.get(jobId);
      if (pointer !== undefined && since <= before) found.push(pointer);
    }
    for (const { jobId } of found) this.#moveToEnd(jobId);
    return found;
  }

  /** Jobs of an account that wait here, in the order that they came in. @param limit how many at most. */
  jobsOf(accountId: string, limit: number): string[] {
    const found: string[] = [];
    for (const { jobId, routingKey } of this.#pointers.values()) {
      if (found.length === limit) break;
      if (accountOf(routingKey) === accountId) found.push(jobId);
    }
    return found;
  }

  #moveToEnd(jobId: string): void {
    const since = this.#since.get(jobId)!;
    this.#since.delete(jobId);
    this.#since.set(jobId, since);
  }

  #remove(jobId: string): void {
    this.#pointers.delete(jobId);
    this.#since.delete(jobId);
  }
}
