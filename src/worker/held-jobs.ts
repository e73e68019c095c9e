import { within } from '../async/timeout.ts';
import type { Job } from '../jobs/job.ts';
import type { Transitions } from '../jobs/store/transitions.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Why a render was stopped from outside. */
export type StopReason = 'lost' | 'shutdown' | 'unable';

export interface HeldJob {
  readonly job: Job;
  /** Aborted with a StopReason. */
  readonly signal: AbortSignal;
  /** The attempt's end is recorded: there is no lease to renew any more. */
  recorded(): void;
}

interface Entry {
  readonly job: Job;
  readonly controller: AbortController;
  recorded: boolean;
}

/** A lease is renewed three times in its life, so that two renewals may fail. */
const RENEWALS_PER_LEASE = 3;

/**
 * The jobs that a worker holds, and their leases: renewed together in one update while they are rendered. A job that
 * turns out to be another worker's, or cancelled, is stopped; so is every job when the database cannot be reached for
 * as long as a lease lasts, since others will have taken them by then.
 */
export class HeldJobs {
  readonly #held = new Map<string, Entry>();
  readonly #transitions: Transitions;
  readonly #owner: string;
  readonly #leaseMs: number;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #idle: (() => void)[] = [];
  #renewing = false;
  #lastRenewal = Date.now();

  constructor(transitions: Transitions, owner: string, leaseMs: number, logger: Logger) {
    this.#transitions = transitions;
    this.#owner = owner;
    this.#leaseMs = leaseMs;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.renew(), leaseMs / RENEWALS_PER_LEASE);
    this.#timer.unref();
  }

  get size(): number {
    return this.#held.size;
  }

  /** @param onRecorded called once the end of the attempt is recorded, when all that is left is to follow it up. */
  add(job: Job, onRecorded: () => void): HeldJob {
    const controller = new AbortController();
    if (this.#held.size === 0) this.#lastRenewal = Date.now();
    const entry: Entry = { job, controller, recorded: false };
    this.#held.set(job._id, entry);
    return {
      job,
      signal: controller.signal,
      recorded: () => {
        entry.recorded = true;
        onRecorded();
      },
    };
  }

  remove(jobId: string): void {
    this.#held.delete(jobId);
    if (this.#held.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Whether a job is held whose end is not recorded yet, by us at least. */
  holds(jobId: string): boolean {
    return this.#held.get(jobId)?.recorded === false;
  }

  /** Renews every lease and stops what is no longer ours: at intervals, and when an event says that a held job has ended. */
  async renew(): Promise<void> {
    const held = [...this.#held.values()].filter((entry) => !entry.recorded).map(({ job }) => job);
    if (held.length === 0 || this.#renewing) return;
    this.#renewing = true;
    const before = Date.now();
    try {
      const lost = await this.#transitions.renew(this.#owner, held, this.#leaseMs);
      this.#lastRenewal = before;
      for (const jobId of lost) this.#stop(jobId, 'lost');
    } catch (error) {
      this.#logger.warn({ err: error }, 'leases not renewed');
      if (Date.now() - this.#lastRenewal > this.#leaseMs) this.stopAll('lost');
    } finally {
      this.#renewing = false;
    }
  }

  stopAll(reason: StopReason): void {
    for (const jobId of this.#held.keys()) this.#stop(jobId, reason);
  }

  /** Resolves when nothing is held, or after `withinMs`. @returns whether nothing is held. */
  async drained(withinMs: number): Promise<boolean> {
    if (this.#held.size === 0) return true;
    const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
    await within(withinMs, 'The jobs that are held', idle).catch(() => undefined);
    return this.#held.size === 0;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #stop(jobId: string, reason: StopReason): void {
    const entry = this.#held.get(jobId);
    if (entry?.recorded === false) entry.controller.abort(reason);
  }
}
