import { backoffMs } from '../../async/backoff.ts';
import { systemTimers, type Timers } from '../../async/timers.ts';
import { KubernetesError } from '../kubernetes-error.ts';
import { TokenBucket } from '../token-bucket.ts';

/**
 * Reconciles one object. When it fails the key is retried after a back-off of its own, or when the API server asks for
 * it.
 *
 * @returns milliseconds until the next reconciliation; undefined when only a change needs one.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<number | undefined>;

export interface WorkQueueOptions {
  readonly reconcile: Reconcile;
  /** Keys that are reconciled concurrently; default 4. */
  readonly workers?: number;
  /** Reconciliations per second in the long run, over all keys, and at once; default 50 and 100. */
  readonly perSecond?: number;
  readonly burst?: number;
  /** The first back-off of a key that failed, and the longest, in milliseconds; default 250 and 60,000. */
  readonly firstRetryMs?: number;
  readonly maxRetryMs?: number;
  /** Called for every reconciliation that has ended, for logs and metrics. */
  readonly onResult?: (result: ReconcileResult) => void;
  readonly timers?: Timers;
  readonly random?: () => number;
}

export interface ReconcileResult {
  readonly key: string;
  readonly seconds: number;
  /** Failed reconciliations of this key in a row, including this one. */
  readonly failures: number;
  readonly error: unknown;
}

/**
 * Keys of objects to be reconciled. A key that is added while it waits is reconciled once; a key that is added while it
 * runs, once more afterwards. No key is reconciled by two workers at a time.
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
  /** Running keys that were added again meanwhile. */
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

  /** Starts the workers; keys that were added before have been kept. */
  start(): void {
    this.#started = true;
    this.#runWaiting();
  }

  /** Runs the key as soon as a worker is free and the rate allows. */
  add(key: string): void {
    if (this.#stopping.signal.aborted) return;
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#waiting.add(key);
    this.#runWaiting();
  }

  /** Adds the key after `delayMs` milliseconds, unless it is due earlier. */
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

  /** Keys that wait for a worker, without the delayed ones. */
  get length(): number {
    return this.#waiting.size + this.#again.size;
  }

  /** Starts nothing more, aborts the signals of running keys, and resolves when they have ended. */
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

  /** @returns the milliseconds until the next try. */
  #countFailure(key: string, error: unknown): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const { firstRetryMs, maxRetryMs, random } = this.#options;
    const requestedMs = error instanceof KubernetesError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(requestedMs, backoffMs(failures, firstRetryMs, maxRetryMs, random));
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
