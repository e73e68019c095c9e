import { FairQueue, type Permit, type PermitRequest, type Priority } from './fair-queue.ts';

/** After this time a render yields to others that wait for a core, in milliseconds. */
const SLICE_MS = 1000;
/** The slice in milliseconds while an account with less usage waits, or an interactive request behind a bulk render. */
const SHORT_SLICE_MS = 100;
/**
 * The half-life of used computing time, in milliseconds. It is as long as a slice: with a half-life of a minute, an
 * account that is always active would be served after every new account that takes all cores for seconds.
 */
const HALF_LIFE_MS = 1000;

/** Renders that compute concurrently on so many cores: more, as they wait for messages too (docs/scheduling.md). */
export function rendersOnCores(cores: number): number {
  return cores + Math.ceil(cores / 2);
}

/** The account and the priority of a render that computes. */
export interface CoreUser {
  readonly account: string;
  readonly priority: Priority;
}

/** The cores that renders compute on: a render that is blocked on I/O has none, and one with workers has several. */
export class Cores extends FairQueue {
  readonly total: number;
  readonly #machine: number;
  readonly #onWaiting = new Set<() => void>();

  /**
   * @param total renders that compute concurrently.
   * @param now milliseconds of a clock that never goes back. Default: the process's own.
   * @param machine number of the machine's cores. Default: as many as `total`.
   */
  constructor(total: number, now?: () => number, machine = total) {
    super({ usage: { halfLifeMs: HALF_LIFE_MS, now } });
    this.total = total;
    this.#machine = machine;
  }

  /** Whether one of the machine's cores has no render. */
  get idle(): boolean {
    return this.taken < this.#machine;
  }

  protected override get capacity(): number {
    return this.total;
  }

  /** How long a render may compute at a time, in milliseconds; infinite while no other render waits for a core. */
  sliceMs({ account, priority }: CoreUser): number {
    if (this.waiting() === 0) return Number.POSITIVE_INFINITY;
    if (priority === 'bulk' && this.waiting('interactive') > 0) return SHORT_SLICE_MS;
    const next = this.nextAccount(priority);
    return next !== undefined && this.usage.of(next) < this.usage.of(account) ? SHORT_SLICE_MS : SLICE_MS;
  }

  /** Calls `notify` whenever a request begins to wait for a core. @returns a function that ends the calls. */
  onWaiting(notify: () => void): () => void {
    this.#onWaiting.add(notify);
    return () => this.#onWaiting.delete(notify);
  }

  override acquire(request: PermitRequest, signal?: AbortSignal): Promise<Permit> {
    const waitingBefore = this.waiting();
    const permit = super.acquire(request, signal);
    if (this.waiting() > waitingBefore) for (const notify of this.#onWaiting) notify();
    return permit;
  }
}
