import { pause, systemTimers, type Timers } from '../../async/timers.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { LeaseClaim, type LeaseClaimOptions } from './lease-claim.ts';

interface LeaderElectionOptions extends Omit<LeaseClaimOptions, 'leaseMs' | 'timers' | 'clock'> {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Called once, when the Lease was won. */
  readonly onElected: () => void;
  /** Called once, when a held Lease could not be kept: another candidate may lead from now on. */
  readonly onLost: (reason: string) => void;
  readonly timing?: Partial<LeaseTiming>;
  readonly timers?: Timers;
  readonly clock?: Clock;
  readonly random?: () => number;
}

interface LeaseTiming {
  /** In milliseconds, whole seconds. A Lease that has not changed for this long has expired. */
  readonly leaseMs: number;
  /** Milliseconds after which a leader that could not renew gives up, well before the Lease expires for others. */
  readonly renewMs: number;
  /** Between two tries, in milliseconds. */
  readonly retryMs: number;
}

/** As client-go has them. */
const DEFAULT_TIMING: LeaseTiming = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

/**
 * One of several candidates leads, by holding a Lease. Whether another candidate's Lease has expired is judged by the
 * changes observed, on the own clock, so that clocks need not agree.
 *
 * A leader counts its time from before it sent the last successful renewal, the others from after they saw it. So it
 * has given up, by its own clock, before another one begins, unless one clock runs half as fast again as the other.
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #timing: LeaseTiming;
  readonly #timers: Timers;
  readonly #random: () => number;
  readonly #claim: LeaseClaim;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  /** Until when the Lease is certainly held; undefined before it was won. */
  #heldUntilMs: number | undefined;
  /** Final: a late response must not make a leader of a candidate that has been stopped. */
  #lost = false;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#timing = { ...DEFAULT_TIMING, ...options.timing };
    this.#timers = options.timers ?? systemTimers;
    this.#random = options.random ?? Math.random;
    this.#claim = new LeaseClaim({
      ...options,
      leaseMs: this.#timing.leaseMs,
      timers: this.#timers,
      clock: options.clock ?? systemClock,
    });
  }

  /**
   * True from when the Lease was won until it is released or could not be renewed in time. Computed from the clock:
   * false in a process that was suspended for too long, even before any of its timers has fired.
   */
  get isLeader(): boolean {
    return !this.#lost && this.#heldUntilMs !== undefined && this.#timers.nowMs() < this.#heldUntilMs;
  }

  /** The identity that holds the Lease, as far as is known. */
  get holder(): string | undefined {
    return this.#claim.holder;
  }

  /** Runs for election until it has led and lost, or is stopped. */
  start(): void {
    this.#running ??= this.#run().catch(() => {});
  }

  /** Releases the Lease if it is held, so that another can lead at once. To be called when all work has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the election stops'));
    await this.#running;
    if (!this.isLeader) return;
    this.#heldUntilMs = undefined;
    await this.#claim.release(this.#timing.retryMs).catch((err) => {
      this.#options.logger.warn({ err }, 'the Lease could not be released; it expires by itself');
    });
  }

  async #run(): Promise<void> {
    const { logger, identity, onElected, onLost } = this.#options;
    await this.#acquire();
    logger.info({ identity }, 'leading');
    onElected();
    const reason = await this.#keep();
    if (reason === undefined) return;
    this.#lost = true;
    logger.warn({ identity, reason }, 'leading no more');
    onLost(reason);
  }

  /** Resolves when the Lease was won; rejects when the election is stopped. */
  async #acquire(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      signal.throwIfAborted();
      if ((await this.#tryOnce(this.#timing.renewMs)) === 'held') return;
      // Spread, so that candidates do not try at the same time for ever.
      await pause(this.#timers, this.#timing.retryMs * (1 + 0.2 * this.#random()), signal);
    }
  }

  /** @returns why it was lost; undefined when the election was stopped meanwhile. */
  async #keep(): Promise<string | undefined> {
    const { signal } = this.#stopping;
    const lost = Promise.withResolvers<string>();
    const cancelled = new AbortController();
    const stop = AbortSignal.any([signal, cancelled.signal]);
    const ended = Promise.allSettled([
      this.#renewUntil(stop, lost.resolve),
      this.#watchClock(stop, lost.resolve),
    ]);
    const stopped = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const reason = await Promise.race([lost.promise, stopped]);
    cancelled.abort();
    // A hanging call must not delay the report to the leader; when stopped, a call under way is waited for.
    if (reason === undefined) await ended;
    return reason;
  }

  async #renewUntil(stop: AbortSignal, onLost: (reason: string) => void): Promise<void> {
    for (;;) {
      await pause(this.#timers, this.#timing.retryMs, stop);
      const outcome = await this.#tryOnce(this.#timing.renewMs / 2);
      if (outcome === 'other') return onLost(`the Lease is held by ${this.holder}`);
    }
  }

  async #watchClock(stop: AbortSignal, onLost: (reason: string) => void): Promise<void> {
    while (this.isLeader) {
      await pause(this.#timers, (this.#heldUntilMs ?? 0) - this.#timers.nowMs(), stop);
    }
    onLost(`the Lease could not be renewed for ${this.#timing.renewMs} ms`);
  }

  async #tryOnce(deadlineMs: number): Promise<'held' | 'other' | 'unknown'> {
    const sentAtMs = this.#timers.nowMs();
    try {
      const held = await this.#claim.hold(deadlineMs);
      if (held) this.#heldUntilMs = sentAtMs + this.#timing.renewMs;
      return held ? 'held' : 'other';
    } catch (err) {
      this.#options.logger.warn({ err }, 'the Lease could not be read');
      return 'unknown';
    }
  }
}
