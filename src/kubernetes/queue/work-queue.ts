import { backoffMs } from '../../async/backoff.ts';
import { systemTimers, type Timers } from '../../async/timers.ts';
import { KubernetesError } from '../client/kubernetes-error.ts';
import { TokenBucket } from './token-bucket.ts';

/**
 * Looks at one object and does what has to be done. When it fails the key comes back after a back-off of its own, or when
 * the API server asks to.
 *
 * @returns milliseconds after which to look again; nothing when only a change needs it.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<number | undefined>;

export interface WorkQueueOptions {
  readonly reconcile: Reconcile;
  /** Keys that are looked at together; default 4. */
  readonly workers?: number;
  /** Looks per second in the long run, over all keys, and at once; default 50 and 100. */
  readonly perSecond?: number;
  readonly burst?: number;
  /** The first back-off of a key that failed, and the longest, in milliseconds; default 250 and 60,000. */
  readonly firstRetryMs?: number;
  readonly maxRetryMs?: number;
  /** Told of every look that has ended, for logs and metrics. */
  readonly onResult?: (result: ReconcileResult) => void;
  readonly timers?: Timers;
  readonly random?: () => number;
}

export interface ReconcileResult {
  readonly key: string;
  readonly seconds: number;
  /** Looks at this key that failed in a row, this one among them. */
  readonly failures: number;
  readonly error: unknown;
}

/**
 * Keys of objects that have to be looked at. A key that is added while it waits is looked at once; one that is added while
 * it is looked at, once more afterwards. No key is looked at by two workers at a time.
 *
 *   addAfter ─▶ delayed ─▶ waiting ─▶ running ─▶ gone
 *   add ──────────────────▶   ▲          │
 *                             └──────────┘ added meanwhile, or failed (by way of delayed)
 */
export class WorkQueue {
  readonly #options: Required<WorkQueueOptions>;
  readonly #bucket: TokenBucket;
  readonly #delayed = new Map<string, { readonly dueMs: number; readonly cancel: () => void }>();
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  /** Of the running ones, those that were added meanwhile. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #stopping = new AbortController();
  #started = false;
  #cancelWait: (() => void) | undefined;

  constructor(options: WorkQueueOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { perSecond, burst, timers } = this.#options;
    this.#bucket = new TokenBucket(perSecond, burst, timers.nowMs());
  }

  /** From here on keys are looked at; what was added before is kept until then. */
  start(): void {
    this.#started = true;
    this.#runWaiting();
  }

  /** As soon as a worker is free and the rate allows. */
  add(key: string): void {
    if (this.#stopping.signal.aborted) return;
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#waiting.add(key);
    this.#runWaiting();
  }

  /** After `delayMs` milliseconds, unless it is added for earlier. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stopping.signal.aborted) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    if (this.#waiting.has(key) || this.#again.has(key)) return;
    const dueMs = this.#options.timers.nowMs() + delayMs;
    const planned = this.#delayed.get(key);
    if (planned !== undefined && planned.dueMs <= dueMs) return;
    planned?.cancel();
    this.#delayed.set(key, { dueMs, cancel: this.#options.timers.after(delayMs, () => this.add(key)) });
  }

  /** Keys that wait for a worker; those that wait for a time are not counted. */
  get length(): number {
    return this.#waiting.size + this.#again.size;
  }

  /** Looks at nothing more, aborts the signal of those under way, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the work queue stops'));
    this.#cancelWait?.();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#waiting.clear();
    this.#again.clear();
    await Promise.all(this.#running.values());
  }

  #runWaiting(): void {
    if (!this.#started || this.#stopping.signal.aborted || this.#cancelWait !== undefined) return;
    for (const key of this.#waiting) {
      if (this.#running.size >= this.#options.workers) return;
      const waitMs = this.#bucket.take(this.#options.timers.nowMs());
      if (waitMs > 0) {
        this.#cancelWait = this.#options.timers.after(waitMs, () => {
          this.#cancelWait = undefined;
          this.#runWaiting();
        });
        return;
      }
      this.#waiting.delete(key);
      this.#running.set(key, this.#run(key));
    }
  }

  async #run(key: string): Promise<void> {
    const beganMs = this.#options.timers.nowMs();
    let againAfterMs: number | undefined;
    let failure: { readonly error: unknown } | undefined;
    try {
      againAfterMs = await this.#options.reconcile(key, this.#stopping.signal);
      this.#failures.delete(key);
    } catch (error) {
      failure = { error };
      againAfterMs = this.#countFailure(key, error);
    }
    const seconds = (this.#options.timers.nowMs() - beganMs) / 1000;
    this.#options.onResult({
      key,
      seconds,
      failures: this.#failures.get(key) ?? 0,
      error: failure?.error,
    });
    this.#running.delete(key);
    if (this.#again.delete(key)) this.add(key);
    else if (againAfterMs !== undefined) this.addAfter(key, againAfterMs);
    this.#runWaiting();
  }

  /** @returns the milliseconds until the next look. */
  #countFailure(key: string, error: unknown): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const { firstRetryMs, maxRetryMs, random } = this.#options;
    const asked = error instanceof KubernetesError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(asked, backoffMs(failures, firstRetryMs, maxRetryMs, random));
  }
}

const DEFAULTS = {
  workers: 4,
  perSecond: 50,
  burst: 100,
  firstRetryMs: 250,
  maxRetryMs: 60_000,
  onResult: () => {},
  timers: systemTimers,
  random: Math.random,
};
