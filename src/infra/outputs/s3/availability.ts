import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../async/backoff.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { S3Error } from './s3-error.ts';

/** Back-off between attempts, in milliseconds. */
const FIRST_MS = 100;
const LONGEST_MS = 5000;
/** How long the store has to fail before no new work is accepted, in milliseconds. */
const PATIENCE_MS = 10_000;
/** How long after a success the store counts as available without another one, in milliseconds. */
const PROBE_AFTER_MS = 10_000;
/** Attempts of an operation that somebody waits for. */
const TRIES = 4;

interface AvailabilityOptions {
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  /** Stores something small, to see whether the store takes anything. Without it, a process knows of its own PDFs alone. */
  readonly probe?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Milliseconds on a monotonic clock, for tests. */
  readonly nowMs?: (() => number) | undefined;
}

/** Knows whether the store takes PDFs, and repeats what it does not take. */
export class Availability {
  readonly #options: AvailabilityOptions;
  readonly #nowMs: () => number;
  readonly #closing = new AbortController();
  #failingSince: number | undefined;
  #lastError = '';
  #lastSuccess: number;
  #logged = false;
  /** Operations that have failed and are repeated. */
  #repeated = 0;
  #probing = false;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#lastSuccess = this.#nowMs();
  }

  /** Why no new work should be accepted: the store has failed for ten seconds. */
  problem(): string | undefined {
    const now = this.#nowMs();
    if (!this.#probing && this.#repeated === 0 && now - this.#lastSuccess > PROBE_AFTER_MS) this.#probe();
    if (this.#failingSince === undefined || now - this.#failingSince < PATIENCE_MS) return undefined;
    return `output store: ${this.#lastError}`;
  }

  /**
   * The result of `write`, which is repeated until the store takes it.
   *
   * @throws S3Error for what is never taken; the signal's reason when it aborts.
   */
  async untilTaken<T>(write: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const ends =
      signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    let failures = 0;
    try {
      for (;;) {
        try {
          const result = await write();
          this.#succeeded();
          return result;
        } catch (error) {
          ends.throwIfAborted();
          if (error instanceof S3Error && error.isForGood) throw error;
          failures += 1;
          if (failures === 1) this.#repeated += 1;
          this.#failed(error as Error);
        }
        await sleep(backoffMs(failures, FIRST_MS, LONGEST_MS, Math.random), undefined, {
          signal: ends,
        }).catch(() => ends.throwIfAborted());
      }
    } finally {
      if (failures > 0) this.#repeated -= 1;
      // Nobody is left who would notice that the store is back.
      if (this.#repeated === 0) this.#failingSince = undefined;
    }
  }

  /** The result of `ask`, which is repeated a few times. @throws as `ask` does in the end. */
  async within<T>(ask: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await ask();
      } catch (error) {
        if (failures === TRIES || (error instanceof S3Error && !error.isTransient)) throw error;
      }
      await sleep(backoffMs(failures, FIRST_MS, LONGEST_MS, Math.random));
    }
  }

  /** Ends what is being repeated. */
  close(): void {
    this.#closing.abort(new Error('The output store is closed.'));
  }

  #probe(): void {
    const { probe } = this.#options;
    if (probe === undefined || this.#closing.signal.aborted) return;
    this.#probing = true;
    this.untilTaken(() => probe(this.#closing.signal))
      .catch(() => undefined)
      .finally(() => {
        this.#probing = false;
      });
  }

  #succeeded(): void {
    this.#lastSuccess = this.#nowMs();
    this.#failingSince = undefined;
    if (!this.#logged) return;
    this.#logged = false;
    this.#options.logger.info('the output store takes PDFs again');
  }

  #failed(error: Error): void {
    const now = this.#nowMs();
    this.#failingSince ??= now;
    this.#lastError = error instanceof S3Error ? error.reason : error.message;
    if (this.#logged || now - this.#failingSince < PATIENCE_MS) return;
    this.#logged = true;
    this.#options.logger.warn({ err: error }, 'the output store does not take PDFs: they wait in memory');
  }
}
